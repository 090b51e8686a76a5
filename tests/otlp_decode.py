"""Decodes what a server has sent to an OpenTelemetry collector with the messages that OpenTelemetry publishes.

Usage: python3 otlp_decode.py DIRECTORY. It has the bodies of the requests: traces-*.json and metrics-*.json. Prints what they say as JSON. A member
that the messages do not have, a missing id, a wrong temporality or unit ends it with an error.
"""

import base64
import json
import pathlib
import re
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE
from opentelemetry.proto.trace.v1.trace_pb2 import Span

UNITS = {"seconds": "s", "bytes": "By"}


def with_ids_in_base64(span):
    """The one difference between OTLP's JSON and that of Protocol Buffers: ids are in lower-case hexadecimal."""
    for member, length in (("traceId", 32), ("spanId", 16), ("parentSpanId", 16)):
        if member in span:
            assert re.fullmatch(f"[0-9a-f]{{{length}}}", span[member]), (member, span)
            span[member] = base64.b64encode(bytes.fromhex(span[member])).decode()
    return span


def resource(decoded):
    """The attributes of a resource. OTLP's values are texts here."""
    attributes = {one.key: one.value.string_value for one in decoded.resource.attributes}
    assert all(attributes.values()), attributes
    return attributes


def read_span(span):
    assert any(span.trace_id) and len(span.trace_id) == 16, span
    assert any(span.span_id) and len(span.span_id) == 8, span
    assert len(span.parent_span_id) in (0, 8), span
    assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano, span
    assert span.kind != Span.SPAN_KIND_UNSPECIFIED, span
    return {
        "name": span.name,
        "trace": span.trace_id.hex(),
        "id": span.span_id.hex(),
        "parent": span.parent_span_id.hex(),
        "kind": Span.SpanKind.Name(span.kind),
    }


def traces(text):
    body = json.loads(text)
    for of_resource in body["resourceSpans"]:
        for of_scope in of_resource["scopeSpans"]:
            of_scope["spans"] = [with_ids_in_base64(span) for span in of_scope["spans"]]
    decoded = json_format.ParseDict(body, ExportTraceServiceRequest())
    for of_resource in decoded.resource_spans:
        for of_scope in of_resource.scope_spans:
            assert of_scope.scope.name and of_scope.scope.version, of_scope
            yield resource(of_resource), [read_span(span) for span in of_scope.spans]


def read_metric(metric):
    kind = metric.WhichOneof("data")
    data = getattr(metric, kind)
    assert data.data_points, metric
    if kind != "gauge":
        assert data.aggregation_temporality == AGGREGATION_TEMPORALITY_CUMULATIVE, metric
    if kind == "sum":
        assert data.is_monotonic, metric
    for point in data.data_points:
        assert 0 < point.start_time_unix_nano <= point.time_unix_nano, metric
        if kind == "histogram":
            bounds = list(point.explicit_bounds)
            assert len(point.bucket_counts) == len(bounds) + 1 and bounds == sorted(bounds), metric
            assert sum(point.bucket_counts) == point.count, metric
        else:
            assert point.WhichOneof("value") == "as_double", metric
    expected = UNITS.get(metric.name.removesuffix("_total").rsplit("_", 1)[-1], "")
    assert metric.unit == expected and metric.description, metric
    return {"name": metric.name, "kind": kind, "unit": metric.unit}


def metrics(text):
    decoded = json_format.Parse(text, ExportMetricsServiceRequest())
    for of_resource in decoded.resource_metrics:
        for of_scope in of_resource.scope_metrics:
            names = [metric.name for metric in of_scope.metrics]
            assert len(names) == len(set(names)), names
            yield resource(of_resource), [read_metric(metric) for metric in of_scope.metrics]


def main():
    folder = pathlib.Path(sys.argv[1])
    resources, found = [], {"traces": [], "metrics": []}
    for signal, read in (("traces", traces), ("metrics", metrics)):
        for path in sorted(folder.glob(f"{signal}-*.json")):
            for attributes, decoded in read(path.read_text()):
                resources.append(attributes)
                found[signal] += decoded
    assert all(one == resources[0] for one in resources), resources
    print(json.dumps({"resource": resources[0], **found}))


main()
