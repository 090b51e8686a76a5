"""The routes of the OpenAPI document, and which of them a client has used."""

import json
import re
import threading
from typing import Any, Dict, Iterator, List, Set, Tuple
from urllib.parse import parse_qs, urlsplit

PREFIX = "/api/v1"
#: No part of an application's work: the document itself, for programs that generate code.
NOT_OFFERED = {f"{PREFIX}/openapi.json"}
METHODS = {"get", "post", "put", "patch", "delete"}
#: Of every route that acts on a project: a client has options for them, and sends the first as a header.
SHARED_PARAMETERS = {"project_id", "environment"}
#: Ids of events that a request with several events gets.
EVENT_ID = "evt_01M7Y455JZBGQAZY8DYSMCQVZN"


class Route:
    """One operation of the document, and what was sent to it."""

    def __init__(self, document: Dict[str, Any], method: str, path: str, operation: Dict[str, Any]) -> None:
        self.document = document
        self.method = method.upper()
        self.path = path
        self.operation = operation
        # A tile has a path of several steps.
        steps = re.sub(r"\\\{path\\\}", ".+", re.escape(path))
        self.pattern = re.compile(re.sub(r"\\\{[a-z_]+\\\}", "[^/]+", steps))
        parameters = [self.resolved(parameter) for parameter in operation.get("parameters", [])]
        self.parameters = {one["name"] for one in parameters if one["in"] == "query"}
        self.members = set(self.members_of(self.body_schema())) if "requestBody" in operation else set()
        self.calls = 0
        self.sent: Set[str] = set()

    def resolved(self, value: Dict[str, Any]) -> Dict[str, Any]:
        while "$ref" in value:
            found: Any = self.document
            for step in value["$ref"].lstrip("#/").split("/"):
                found = found[step]
            value = found
        return value

    def body_schema(self) -> Dict[str, Any]:
        return self.operation["requestBody"]["content"]["application/json"]["schema"]

    def members_of(self, schema: Dict[str, Any]) -> Iterator[str]:
        """The members of a body, of all its forms. Events have forms of their own, which the cases check."""
        schema = self.resolved(schema)
        if self.operation["operationId"] in ("ingest_events", "ingest_stream_events"):
            return
        yield from schema.get("properties", {})
        for form in schema.get("oneOf", []):
            yield from self.members_of(form)

    def problems(self) -> Iterator[str]:
        name = f"{self.method} {self.path}"
        if self.calls == 0:
            yield f"{name} was not called"
            return
        for unsent in sorted((self.parameters - SHARED_PARAMETERS | self.members) - self.sent):
            yield f"{name} was called without {unsent}"
        for undeclared in sorted(self.sent - self.parameters - self.members):
            yield f"{name} was called with {undeclared}, which the document does not declare"

    def note(self, query: Dict[str, List[str]], body: Any) -> None:
        self.calls += 1
        # The names of filters by metadata are those of a project, which no document has.
        self.sent |= {name for name in query if not name.startswith(("metadata.", "not_metadata."))}
        if self.members and isinstance(body, dict):
            self.sent |= set(body)

    def answer(self, accept: str, query: Dict[str, List[str]], body: Any) -> Tuple[int, str, bytes]:
        """The example of the first successful response, in the type that the client accepts."""
        status = min(code for code in self.operation["responses"] if code.startswith("2"))
        content = self.resolved(self.operation["responses"][status])["content"]
        content_type = next((one for one in content if one in accept), next(iter(content)))
        examples = list(content[content_type].get("examples", {}).values())
        if content_type != "application/json" or not examples:
            return int(status), content_type, b""
        value = dict(self.resolved(examples[0])["value"])
        if "cursor" in self.parameters:
            # Two pages, so that a client has to send the cursor of the first.
            value["cursor"] = None if "cursor" in query else "a_cursor"
        if "ids" in value:
            events = body if isinstance(body, list) else [body]
            value["ids"] = [EVENT_ID for _ in events]
            value["receipts"] = ["a receipt" for _ in events]
        if "has_more" in value:
            value["has_more"] = value["cursor"] is not None and "cursor" in self.parameters
        return int(status), content_type, json.dumps(value).encode()


class Routes:
    """All routes that a client offers."""

    def __init__(self, document: Dict[str, Any]) -> None:
        self.lock = threading.Lock()
        self.unknown: List[str] = []
        self.routes = [
            Route(document, method, path, operations[method])
            for path, operations in document["paths"].items()
            if path.startswith(PREFIX + "/") and path not in NOT_OFFERED
            for method in METHODS & set(operations)
        ]
        # `/events/feed` before `/events/{id}`.
        self.routes.sort(key=lambda route: route.path.count("{"))

    def answer(self, method: str, target: str, headers: Dict[str, str], text: bytes) -> Tuple[int, str, bytes]:
        url = urlsplit(target)
        with self.lock:
            for route in self.routes:
                if route.method == method and route.pattern.fullmatch(url.path):
                    query = parse_qs(url.query, keep_blank_values=True)
                    body = json.loads(text) if text else None
                    route.note(query, body)
                    return route.answer(headers.get("accept", ""), query, body)
            self.unknown.append(f"{method} {url.path}")
        error = {"error": {"code": "not_found", "message": "the document has no such route"}}
        return 404, "application/json", json.dumps(error).encode()

    def problems(self) -> List[str]:
        with self.lock:
            found = [problem for route in self.routes for problem in route.problems()]
            return found + [f"{unknown} was called, which the document does not declare" for unknown in self.unknown]
