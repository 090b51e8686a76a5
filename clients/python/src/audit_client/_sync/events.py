# Generated from audit_client/_async by tools/unasync.py. Change that file.
"""Events: ingest, queries, the feed, exports and proofs."""

import json
from typing import Any, Iterator, Dict, List, Literal, Mapping, Optional, Sequence, Union, cast

from .._buffer import REQUEST_EVENTS_MAX, body_of, entry_of
from .._transport import Transport
from .._wire import Call, Params, call, ingest_result_of, json_of, segment, text_response
from ..types import (
    ActorType,
    Category,
    Completeness,
    ConsistencyProof,
    Event,
    EventInput,
    EventPage,
    EventSummary,
    FeedPage,
    IngestResult,
    Interval,
    LoggedRemoval,
    LogReport,
    OneOrMore,
    Outcome,
    Proof,
    Time,
)

#: Seconds that the feed waits for an event before it responds with an empty page.
FEED_WAIT_SECONDS = 30


class Events:
    """``client.events``"""

    def __init__(self, transport: Transport, ingest_path: str) -> None:
        self._transport = transport
        self._ingest_path = ingest_path

    def ingest(self, events: Union[EventInput, Sequence[EventInput]], *, receipts: bool = False) -> IngestResult:
        """Sends one event, or 1 to 100, and returns when they are stored durably.

        Refused events of a sequence are in ``errors`` of the result, unless all are refused: that is an ``ApiError``. Events
        without an idempotency key get one, so that retries store nothing twice. With ``receipts`` the result has the
        signed receipt of each event, about a second later.
        """
        headers = {"Prefer": "receipt"} if receipts else {}
        if isinstance(events, Mapping):
            body = entry_of(events).body
        else:
            if not 1 <= len(events) <= REQUEST_EVENTS_MAX:
                raise ValueError(f"a request has 1 to {REQUEST_EVENTS_MAX} events, not {len(events)}")
            body = body_of([entry_of(event) for event in events])
        count = 1 if isinstance(events, Mapping) else len(events)
        request = Call("POST", self._ingest_path, body=body, headers=headers, in_environment=True)
        return self._transport.send(request, ingest_result_of(count))

    def query(
        self,
        *,
        tenant_id: Optional[OneOrMore[str]] = None,
        actor_id: Optional[OneOrMore[str]] = None,
        actor_type: Optional[OneOrMore[ActorType]] = None,
        action: Optional[OneOrMore[str]] = None,
        category: Optional[OneOrMore[Category]] = None,
        target_id: Optional[OneOrMore[str]] = None,
        target_type: Optional[OneOrMore[str]] = None,
        ip_address: Optional[OneOrMore[str]] = None,
        session_id: Optional[OneOrMore[str]] = None,
        outcome: Optional[OneOrMore[Outcome]] = None,
        not_tenant_id: Optional[OneOrMore[str]] = None,
        not_actor_id: Optional[OneOrMore[str]] = None,
        not_actor_type: Optional[OneOrMore[ActorType]] = None,
        not_action: Optional[OneOrMore[str]] = None,
        not_category: Optional[OneOrMore[Category]] = None,
        not_target_id: Optional[OneOrMore[str]] = None,
        not_target_type: Optional[OneOrMore[str]] = None,
        not_ip_address: Optional[OneOrMore[str]] = None,
        not_session_id: Optional[OneOrMore[str]] = None,
        not_outcome: Optional[OneOrMore[Outcome]] = None,
        metadata: Optional[Mapping[str, OneOrMore[str]]] = None,
        not_metadata: Optional[Mapping[str, OneOrMore[str]]] = None,
        start_date: Optional[Time] = None,
        end_date: Optional[Time] = None,
        search: Optional[str] = None,
        search_mode: Optional[Literal["words", "prefix"]] = None,
        search_in: Optional[OneOrMore[Literal["names", "ids", "email", "metadata"]]] = None,
        id: Optional[OneOrMore[str]] = None,
        order: Optional[Literal["desc", "asc"]] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Event]:
        """All events that match every given filter, page by page. ``limit`` is the size of a page (1 to 200).

        Newest first, with ``order="asc"`` oldest first. Several values of a field are alternatives:
        ``actor_id=["user_1", "user_2"]``. ``not_…`` excludes: ``not_tenant_id="audit-server"`` leaves out the service's own
        events. ``metadata={"order.id": "1001"}`` finds by members that the project has in ``metadata_filter_paths``.
        ``ip_address`` can be a network: ``ip_address="203.0.113.0/24"``. ``id``, of up to 100 events, finds those that exist.
        """
        params: Params = {
            "tenant_id": tenant_id,
            "actor_id": actor_id,
            "actor_type": actor_type,
            "action": action,
            "category": category,
            "target_id": target_id,
            "target_type": target_type,
            "ip_address": ip_address,
            "session_id": session_id,
            "outcome": outcome,
            "not_tenant_id": not_tenant_id,
            "not_actor_id": not_actor_id,
            "not_actor_type": not_actor_type,
            "not_action": not_action,
            "not_category": not_category,
            "not_target_id": not_target_id,
            "not_target_type": not_target_type,
            "not_ip_address": not_ip_address,
            "not_session_id": not_session_id,
            "not_outcome": not_outcome,
            "metadata": metadata,
            "not_metadata": not_metadata,
            "start_date": start_date,
            "end_date": end_date,
            "search": search,
            "search_mode": search_mode,
            "search_in": search_in,
            "id": id,
            "order": order,
            "limit": limit,
        }
        cursor: Optional[str] = None
        while True:
            page = self._page(params, cursor)
            for event in page["events"]:
                yield event
            cursor = page["cursor"]
            if cursor is None:
                return

    def page(self, *, cursor: Optional[str] = None, **filters: Any) -> EventPage:
        """One page, with the filters of :meth:`query`. ``cursor`` is that of the page before it, with the same filters."""
        return self._page(filters, cursor)

    def _page(self, params: Params, cursor: Optional[str]) -> EventPage:
        request = call("GET", "/events", {**params, "cursor": cursor}, in_environment=True)
        return cast(EventPage, self._transport.send(request, json_of))

    def summary(
        self,
        *,
        interval: Optional[Interval] = None,
        split: Optional[Literal["category"]] = None,
        time_zone: Optional[str] = None,
        **filters: Any,
    ) -> EventSummary:
        """How many events match, by time, and the most frequent values of the newest ones.

        Buckets are the hours, days, weeks and months of ``time_zone``, such as ``Europe/Berlin``; by default of UTC. Filters are
        those of :meth:`query`, except ``id``, ``order`` and ``limit``.
        """
        params: Params = {**filters, "interval": interval, "split": split, "time_zone": time_zone}
        request = call("GET", "/events/summary", params, in_environment=True)
        return cast(EventSummary, self._transport.send(request, json_of))

    def get(self, event_id: str) -> Event:
        """One event."""
        request = call("GET", f"/events/{segment(event_id)}", in_environment=True)
        return cast(Event, (self._transport.send(request, json_of))["event"])

    def feed(
        self, *, after: Optional[str] = None, follow: bool = True, wait: int = FEED_WAIT_SECONDS, **filters: Any
    ) -> Iterator[FeedPage]:
        """Pages of events in commit order, oldest first, without gaps; forever, or with ``follow=False`` up to the latest.

        What is followed goes on after an outage, with growing pauses of up to 30 s; with ``follow=False`` it is an error.
        Store ``page["cursor"]`` after the events of the page are safe, and continue from it with ``after``. A page can be
        empty. Filters are those of :meth:`query`, except ``search``, ``id``, ``order`` and the dates.
        """
        while True:
            params = {**filters, "after": after, "wait": wait if follow else 0}
            request = call("GET", "/events/feed", params, extra_seconds=wait, in_environment=True)
            send = self._transport.send_through_outages if follow else self._transport.send
            page = cast(FeedPage, send(request, json_of))
            yield page
            after = page["cursor"]
            if not follow and not page["has_more"]:
                return

    def export(self, **filters: Any) -> Iterator[Event]:
        """All events that match, newest first, in one response. An interruption raises :class:`NetworkError`."""
        request = call("GET", "/events/export", {**filters, "format": "jsonl"}, in_environment=True)
        for line in self._transport.lines(request):
            yield cast(Event, json.loads(line))

    def export_csv(self, *, time_zone: Optional[str] = None, **filters: Any) -> Iterator[bytes]:
        """The same as CSV, in pieces to be written one after the other. ``**{"for": "excel"}`` is the parameter for Excel.

        Times are those of ``time_zone``, such as ``Europe/Berlin``; by default of UTC.
        """
        params: Params = {**filters, "format": "csv", "time_zone": time_zone}
        request = call("GET", "/events/export", params, in_environment=True)
        for line in self._transport.lines(request):
            yield line

    def export_xlsx(self, *, time_zone: Optional[str] = None, **filters: Any) -> Iterator[bytes]:
        """The same as a workbook of Excel, in pieces to be written one after the other.

        Times are those of ``time_zone``, such as ``Europe/Berlin``; by default of UTC.
        """
        params: Params = {**filters, "format": "xlsx", "time_zone": time_zone}
        request = call("GET", "/events/export", params, in_environment=True)
        for piece in self._transport.lines(request):
            yield piece

    def proof(self, event_id: str) -> Proof:
        """The proof that an event is in the log, for :func:`audit_client.verify_proof`."""
        request = call("GET", f"/events/{segment(event_id)}/proof", in_environment=True)
        return cast(Proof, self._transport.send(request, json_of))

    def receipt(self, event_id: str) -> bytes:
        """The same proof as a file, for ``audit-server check``."""
        request = call("GET", f"/events/{segment(event_id)}/receipt", in_environment=True)
        return self._transport.send(request, text_response)


class Log:
    """``client.log``: the verifiable log."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def checkpoint(self, *, cosigned: Optional[Literal[True]] = None) -> str:
        """The latest signed checkpoint, a note for :func:`audit_client.verify_note`."""
        request = call("GET", "/log/checkpoint", {"cosigned": cosigned}, in_environment=True)
        return (self._transport.send(request, text_response)).decode()

    def key(self) -> str:
        """The key that verifies checkpoints. Compare it with the one that the operator gave you over another channel."""
        return (self._transport.send(call("GET", "/log/key"), text_response)).decode().strip()

    def key_rotations(self) -> str:
        """The statements by which each key names the next one."""
        return (self._transport.send(call("GET", "/log/key/rotations"), text_response)).decode()

    def tile(self, path: str) -> bytes:
        """Hashes of the tree, by the path of a tile after ``tile/`` (C2SP tlog-tiles)."""
        steps = "/".join(segment(step) for step in path.split("/"))
        return self._transport.send(call("GET", f"/log/tile/{steps}", in_environment=True), text_response)

    def removals(self) -> List[LoggedRemoval]:
        """For auditors: the plans in their grace period, the removals and the erasures, oldest first."""
        request = call("GET", "/log/removals", in_environment=True)
        return cast(List[LoggedRemoval], (self._transport.send(request, json_of))["removals"])

    def report(self) -> LogReport:
        """For auditors: policies, removals, erasures and holds of the log, and the numbers of its events."""
        return cast(LogReport, self._transport.send(call("GET", "/log/report", in_environment=True), json_of))

    def report_html(self) -> str:
        """The same as a page to print."""
        request = call("GET", "/log/report", {"format": "html"}, in_environment=True)
        return (self._transport.send(request, text_response)).decode()

    def consistency(self, from_size: int, to_size: int) -> ConsistencyProof:
        """The proof that the log of ``to_size`` events extends that of ``from_size``."""
        request = call("GET", "/log/consistency", {"from": from_size, "to": to_size}, in_environment=True)
        return cast(ConsistencyProof, self._transport.send(request, json_of))

    def completeness(self, *, tenant_id: Optional[str] = None) -> Completeness:
        """The proof that a tenant's events are complete. A viewer token names its tenant itself."""
        request = call("GET", "/log/completeness", {"tenant_id": tenant_id}, in_environment=True)
        return cast(Completeness, self._transport.send(request, json_of))

    def tenants(self) -> Dict[str, Any]:
        """For auditors: the signed map of all tenants, its key, and the size of the log that it is bound to."""
        return self._transport.send(call("GET", "/log/tenants", in_environment=True), json_of)
