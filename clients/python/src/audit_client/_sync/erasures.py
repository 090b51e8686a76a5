# Generated from audit_client/_async by tools/unasync.py. Change that file.
"""Erasures of persons from the log of one environment."""

from typing import Any, Iterator, Dict, List, Optional, Sequence, cast

from .._transport import Transport
from .._wire import Params, call, json_of, segment, without_none
from ..types import Erasure, ErasureBasis, ErasureEvent, ErasureEventPage, ErasureExtent


class Erasures:
    """``client.erasures``: takes a person out of stored events, while the log still verifies. Master key.

    An erasure is requested, listed by the service, confirmed by the digest of the list, and carried out after a grace period.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> "List[Erasure]":
        """Newest first. Cancelled ones are not listed."""
        request = call("GET", "/erasures", in_environment=True)
        return cast("List[Erasure]", (self._transport.send(request, json_of))["erasures"])

    def get(self, erasure_id: str) -> Erasure:
        """One erasure, with its state and what it cannot reach."""
        request = call("GET", f"/erasures/{segment(erasure_id)}", in_environment=True)
        return cast(Erasure, (self._transport.send(request, json_of))["erasure"])

    def request(
        self,
        *,
        basis: ErasureBasis,
        ids: Optional[Sequence[str]] = None,
        texts: Optional[Sequence[str]] = None,
        extent: Optional[ErasureExtent] = None,
        ticket: Optional[str] = None,
    ) -> Erasure:
        """Begins to list the events that name a person. Nothing is erased before :meth:`confirm`.

        ``ids`` match whole values. ``texts``, such as names and addresses, match words. ``ticket`` enters the log for ever: no
        name, no address.
        """
        identifiers = without_none({"ids": ids, "texts": texts})
        body = {"identifiers": identifiers, "extent": extent, "basis": basis, "ticket": ticket}
        request = call("POST", "/erasures", body=body, is_idempotent=False, in_environment=True)
        return cast(Erasure, (self._transport.send(request, json_of))["erasure"])

    def events(self, erasure_id: str, *, limit: Optional[int] = None) -> Iterator[ErasureEvent]:
        """The events of the list with the parts that go, page by page. ``limit`` is the size of a page (1 to 200)."""
        cursor: Optional[str] = None
        while True:
            params: Params = {"limit": limit, "cursor": cursor}
            request = call("GET", f"/erasures/{segment(erasure_id)}/events", params, in_environment=True)
            page = cast(ErasureEventPage, self._transport.send(request, json_of))
            for event in page["events"]:
                yield event
            cursor = page["cursor"]
            if cursor is None:
                return

    def exclude(self, erasure_id: str, seqs: Sequence[int]) -> Erasure:
        """Takes events out of the list, up to 100 by their positions. The digest is another one then."""
        return self._change(erasure_id, "exclude", {"seqs": list(seqs)})

    def confirm(self, erasure_id: str, digest: str) -> Erasure:
        """Plans the erasure of the list that has this ``digest``. It is carried out after the grace period."""
        return self._change(erasure_id, "confirm", {"digest": digest})

    def cancel(self, erasure_id: str) -> None:
        """Cancels the erasure, which is possible until the end of the grace period. Its list is deleted."""
        self._transport.send(call("DELETE", f"/erasures/{segment(erasure_id)}", in_environment=True), json_of)

    def _change(self, erasure_id: str, step: str, body: Dict[str, Any]) -> Erasure:
        path = f"/erasures/{segment(erasure_id)}/{step}"
        request = call("POST", path, body=body, is_idempotent=False, in_environment=True)
        return cast(Erasure, (self._transport.send(request, json_of))["erasure"])
