"""The check of invalid requests, without those that the server accepts although the document does not list them: `null` stands
for an absent field. And how a text is sent as JSON lines."""

import schemathesis
from schemathesis.specs.openapi.checks import negative_data_rejection


def has_null(value):
    if isinstance(value, dict):
        return any(member is None or has_null(member) for member in value.values())
    if isinstance(value, list):
        return any(has_null(item) for item in value)
    return False


@schemathesis.serializer("application/x-ndjson")
def json_lines(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


@schemathesis.check
def refuses_invalid_requests(ctx, response, case):
    if not has_null(case.body):
        return negative_data_rejection(ctx, response, case)
