"""For the tests of an application: clients that keep the events in memory and assert on them.

>>> from audit_client.testing import RecordingClient
>>> audit = RecordingClient()
>>> audit.record({"action": "user.created", "category": "auth", "tenant_id": "acme", "actor": {"id": "u1", "type": "user"}})
True
>>> audit.assert_recorded({"action": "user.created", "actor": {"id": "u1"}})["tenant_id"]
'acme'
"""

import json
from typing import Any, Dict, List, Mapping, Optional

import httpx

from ._buffer import checked_entry
from ._client import AsyncClient, Client
from ._recorder import Overflow, Stats
from ._wire import encode, without_none
from .types import EventInput

__all__ = ["AsyncRecordingClient", "RecordingClient"]

#: Nothing is sent there.
NOWHERE = "http://recording.invalid"


class Recordings:
    """The events of a :class:`RecordingClient` or :class:`AsyncRecordingClient`."""

    #: The events, in the order in which they were recorded, as the application wrote them.
    recorded: List[Dict[str, Any]]

    def assert_recorded(self, pattern: Mapping[str, Any], count: Optional[int] = None) -> Dict[str, Any]:
        """Asserts that an event that matches was recorded, or ``count`` of them. Returns the first one.

        A dictionary matches if all given members do, everything else if it is equal.
        """
        found = [event for event in self.recorded if matches(event, pattern)]
        if not found or (count is not None and len(found) != count):
            wanted = "an event" if count is None else f"{count} event(s)"
            raise AssertionError(f"{wanted} like {pattern!r} expected, {len(found)} found; recorded: {text(self.recorded)}")
        return found[0]

    def assert_not_recorded(self, pattern: Optional[Mapping[str, Any]] = None) -> None:
        """Asserts that no event that matches was recorded; without a pattern, none at all."""
        found = [event for event in self.recorded if matches(event, pattern or {})]
        if found:
            raise AssertionError(f"no event like {pattern or {}!r} expected, found: {text(found)}")

    def clear(self) -> None:
        """Forgets the events."""
        self.recorded.clear()

    def _keep(self, event: Mapping[str, Any]) -> None:
        """Keeps a copy, as the client makes one: what the application changes later is not recorded."""
        checked_entry(event)
        self.recorded.append(json.loads(encode(without_none(event))))

    def _stats(self, middleware_errors: int) -> Stats:
        count = len(self.recorded)
        return Stats(recorded=count, stored=count, failed=0, dropped=0, pending=0, middleware_errors=middleware_errors)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        """In place of the service: it stores events, and has nothing else."""
        if request.method != "POST" or request.url.path != "/api/v1/events":
            error = {"code": "not_found", "message": "a RecordingClient has no service: it only takes events"}
            return httpx.Response(404, json={"error": error})
        body = json.loads(request.content)
        events = body if isinstance(body, list) else [body]
        ids = []
        for event in events:
            self._keep(event)
            ids.append(f"evt_{len(self.recorded):026d}")
        return httpx.Response(201, json={"ids": ids, "redacted_count": 0, "request_id": "req_00000000000000000000"})


class RecordingClient(Recordings, Client):
    """A :class:`Client` that keeps the events, and raises :class:`InvalidEvent` for those that the service would refuse.

    ``record`` and ``events.ingest`` keep events. Every other request is an :class:`ApiError` with the status 404.
    """

    def __init__(self) -> None:
        self.recorded = []
        Client.__init__(self, NOWHERE, "pk_test_recording", http_options={"transport": httpx.MockTransport(self._answer)})

    def __enter__(self) -> "RecordingClient":
        return self

    def record(self, event: EventInput, *, overflow: Optional[Overflow] = None) -> bool:
        self._keep(event)
        return True

    def stats(self) -> Stats:
        return self._stats(self._recorder.stats().middleware_errors)


class AsyncRecordingClient(Recordings, AsyncClient):
    """As :class:`RecordingClient`, in place of an :class:`AsyncClient`."""

    def __init__(self) -> None:
        self.recorded = []
        AsyncClient.__init__(self, NOWHERE, "pk_test_recording", http_options={"transport": httpx.MockTransport(self._answer)})

    async def __aenter__(self) -> "AsyncRecordingClient":
        return self

    async def record(self, event: EventInput, *, overflow: Optional[Overflow] = None) -> bool:
        self._keep(event)
        return True

    def stats(self) -> Stats:
        return self._stats(self._recorder.stats().middleware_errors)


def matches(value: Any, pattern: Any) -> bool:
    if not isinstance(pattern, Mapping):
        return bool(value == pattern)
    return isinstance(value, Mapping) and all(name in value and matches(value[name], wanted) for name, wanted in pattern.items())


def text(events: List[Dict[str, Any]]) -> str:
    return json.dumps(events, indent=1)
