"""What the server does with each request of a client: the responses of a case, in order, and what the server stored."""

import json
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

EVENTS_MAX = 100
BODY_BYTES_MAX = 1_048_576
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@dataclass
class Request:
    """A request of the client, and how it was answered."""

    path: str
    headers: Dict[str, str]
    body: bytes
    arrived_at: float
    events: List[Any] = field(default_factory=list)
    step: Dict[str, Any] = field(default_factory=dict)
    status: Optional[int] = None
    answered_at: Optional[float] = None
    # Numbers (`metadata.n`) of the events that this response settled: the client must not send them again.
    settled: List[int] = field(default_factory=list)


class Script:
    """The state of one case. All methods may be called from several threads."""

    def __init__(self, case: Dict[str, Any]):
        self.case = case
        self.requests: List[Request] = []
        self.ids: Dict[str, str] = {}
        self.is_released = False
        self.changed = threading.Condition()
        self.steps: List[Dict[str, Any]] = []
        for step in case.get("responses", []):
            self.steps += [step] * step.get("times", 1)

    def arrive(self, path: str, headers: Dict[str, str], body: bytes) -> Request:
        """Notes a request and chooses its response. After the last response of the case everything is accepted."""
        request = Request(path, headers, body, time.monotonic())
        try:
            parsed = json.loads(body)
            request.events = parsed if isinstance(parsed, list) else [parsed]
        except ValueError:
            pass
        with self.changed:
            request.step = self.next_step()
            self.requests.append(request)
            self.changed.notify_all()
        return request

    def next_step(self) -> Dict[str, Any]:
        """The response of the case to the next request."""
        while self.steps and self.steps[0].get("until_release") and self.is_released:
            self.steps.pop(0)
        if not self.steps:
            return {}
        return self.steps[0] if self.steps[0].get("until_release") else self.steps.pop(0)

    def wait(self, count: int, seconds: float) -> bool:
        """Blocks until `count` requests have arrived. False if they have not after `seconds`."""
        with self.changed:
            return self.changed.wait_for(lambda: len(self.requests) >= count, seconds)

    def release(self) -> None:
        """Answers the requests that are held, and those that would be held; ends an outage."""
        with self.changed:
            self.is_released = True
            self.changed.notify_all()

    def answer(self, request: Request) -> Tuple[int, Dict[str, str], bytes]:
        """Status, headers and body of the response. Stores the events of a 2xx."""
        step = request.step
        status = step.get("status", 201)
        headers = {"Content-Type": "application/json", **step.get("headers", {})}
        limit = self.limit_exceeded(request) or self.unreadable(request)
        if limit:
            status, body = limit
        elif status < 300:
            body = self.accept(request, step.get("refuse", []))
        else:
            error = {"code": "internal_error", "message": "scripted", **step.get("error", {})}
            body = {"error": error, "request_id": "req_00000000000000000000"}
        text = json.dumps(body)
        if "body" in step and not limit:
            text = step["body"]
        request.status = status
        return status, headers, text.encode()

    def limit_exceeded(self, request: Request) -> Optional[Tuple[int, Dict[str, Any]]]:
        """The limits of the service hold in every case."""
        if len(request.body) > BODY_BYTES_MAX:
            return 413, {"error": {"code": "payload_too_large", "message": "the body is too large"}, "request_id": "req_0"}
        if not 1 <= len(request.events) <= EVENTS_MAX:
            error = {"code": "validation_error", "message": "the request is not valid",
                     "details": [{"field": "body", "message": "1 to 100 events"}]}
            return 400, {"error": error, "request_id": "req_0"}
        return None

    @staticmethod
    def unreadable(request: Request) -> Optional[Tuple[int, Dict[str, Any]]]:
        """The service refuses a whole request for one event whose JSON it cannot read, such as one with a repeated key."""
        poison = request.step.get("poison")
        if poison is None or all(event["metadata"]["n"] != poison for event in request.events):
            return None
        error = {"code": "validation_error", "message": "the request is not valid",
                 "details": [{"field": "body", "message": "duplicate key `n`"}]}
        return 400, {"error": error, "request_id": "req_00000000000000000000"}

    def accept(self, request: Request, refused: List[Dict[str, Any]]) -> Dict[str, Any]:
        """Stores the events once for each idempotency key, as the service does."""
        ids, repeated, errors = [], 0, []
        by_index = {entry["index"]: entry for entry in refused}
        for index, event in enumerate(request.events):
            if index in by_index:
                errors.append({"message": "scripted", **by_index[index]})
                continue
            key = str(event.get("idempotency_key", f"none-{len(self.ids)}"))
            repeated += key in self.ids
            ids.append(self.ids.setdefault(key, event_id(len(self.ids))))
        body: Dict[str, Any] = {"ids": ids, "redacted_count": 0, "request_id": "req_00000000000000000000"}
        if repeated:
            body["repeated_count"] = repeated
        if errors:
            body["errors"] = errors
        return body


def event_id(number: int) -> str:
    digits = ""
    for _ in range(26):
        number, digit = divmod(number, 32)
        digits = CROCKFORD[digit] + digits
    return "evt_" + digits
