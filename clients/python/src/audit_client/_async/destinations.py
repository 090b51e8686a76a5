"""Destinations: receivers of all events."""

from typing import Any, AsyncIterator, List, Mapping, Optional, Sequence, cast

from .._transport import AsyncTransport
from .._wire import Params, call, json_of, segment
from ..types import (
    Destination,
    DestinationAttempt,
    DestinationFilter,
    DestinationKind,
    DestinationPreview,
    Environment,
    OcsfClass,
    RecordFormat,
    ReplayResult,
    ResendResult,
    SetAsideEvent,
    SetAsidePage,
    Time,
)


class AsyncDestinations:
    """``client.destinations``: receivers of all events, such as a SIEM or a bucket.

    Master key, or a viewer token whose tier allows destinations, for those of its tenant.
    """

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> "List[Destination]":
        """Those of the environment, oldest first."""
        request = call("GET", "/destinations", in_environment=True)
        return cast("List[Destination]", (await self._transport.send(request, json_of))["destinations"])

    async def get(self, destination_id: str) -> Destination:
        """One destination, with its state."""
        request = call("GET", f"/destinations/{segment(destination_id)}")
        return cast(Destination, (await self._transport.send(request, json_of))["destination"])

    async def create(
        self,
        *,
        name: str,
        kind: DestinationKind,
        settings: Mapping[str, Any],
        credentials: Optional[Mapping[str, Any]] = None,
        format: Optional[RecordFormat] = None,
        include_raw: Optional[bool] = None,
        ocsf_classes: Optional[Sequence[OcsfClass]] = None,
        filter: Optional[DestinationFilter] = None,
        paused: Optional[bool] = None,
        environment: Optional[Environment] = None,
    ) -> Destination:
        """A destination, which gets the events from now on. ``settings`` and ``credentials`` depend on ``kind``.

        Keep the ``signing_secret``, if it has one: no other response shows it. Without ``environment`` it is that of the client.
        Paid plan.
        """
        body = {
            "name": name,
            "kind": kind,
            "settings": settings,
            "credentials": credentials,
            "format": format,
            "include_raw": include_raw,
            "ocsf_classes": ocsf_classes,
            "filter": filter,
            "paused": paused,
            "environment": environment,
        }
        request = call("POST", "/destinations", body=body, is_idempotent=False, in_environment=True)
        return cast(Destination, (await self._transport.send(request, json_of))["destination"])

    async def update(
        self,
        destination_id: str,
        *,
        name: Optional[str] = None,
        format: Optional[RecordFormat] = None,
        include_raw: Optional[bool] = None,
        ocsf_classes: Optional[Sequence[OcsfClass]] = None,
        filter: Optional[DestinationFilter] = None,
        settings: Optional[Mapping[str, Any]] = None,
        credentials: Optional[Mapping[str, Any]] = None,
        paused: Optional[bool] = None,
    ) -> Destination:
        """Changes the given fields. ``ocsf_classes``, ``filter``, ``settings`` and ``credentials`` replace all that were set.

        An empty ``filter`` lets every event pass. ``settings`` need ``credentials`` too. ``paused=False`` also resumes a parked
        destination. New credentials of the kind ``https`` without a ``signing_secret`` get a new one, which only this response
        shows.
        """
        body = {
            "name": name,
            "format": format,
            "include_raw": include_raw,
            "ocsf_classes": ocsf_classes,
            "filter": filter,
            "settings": settings,
            "credentials": credentials,
            "paused": paused,
        }
        request = call("PATCH", f"/destinations/{segment(destination_id)}", body=body)
        return cast(Destination, (await self._transport.send(request, json_of))["destination"])

    async def delete(self, destination_id: str) -> None:
        """Deletes a destination and its list of events that were set aside."""
        await self._transport.send(call("DELETE", f"/destinations/{segment(destination_id)}"), json_of)

    async def test(self, destination_id: str) -> DestinationAttempt:
        """Sends a made-up record at once, also to a paused destination, and waits for the receiver. Paid plan."""
        request = call("POST", f"/destinations/{segment(destination_id)}/test", is_idempotent=False)
        return cast(DestinationAttempt, await self._transport.send(request, json_of))

    async def preview(self, destination_id: str, *, format: Optional[RecordFormat] = None) -> DestinationPreview:
        """The next ten records, or the latest ten of the log, in the destination's format or another one. Sends nothing."""
        request = call("GET", f"/destinations/{segment(destination_id)}/preview", {"format": format})
        return cast(DestinationPreview, await self._transport.send(request, json_of))

    async def replay(
        self,
        destination_id: str,
        *,
        from_seq: Optional[int] = None,
        from_time: Optional[Time] = None,
        to_time: Optional[Time] = None,
        dry_run: Optional[bool] = None,
    ) -> ReplayResult:
        """Sends events of the past again, beside the main run. Paid plan.

        They begin at the position ``from_seq`` of the log or at ``from_time``, by default with the first one, and end before
        ``to_time``, by default now. Times are those at which the log received the events. ``dry_run`` only counts.
        """
        body = {"from_seq": from_seq, "from": from_time, "to": to_time, "dry_run": dry_run}
        request = call("POST", f"/destinations/{segment(destination_id)}/replay", body=body, is_idempotent=False)
        return cast(ReplayResult, await self._transport.send(request, json_of))

    async def stop_replay(self, destination_id: str) -> None:
        """Stops the replay. The main run is not changed."""
        await self._transport.send(call("DELETE", f"/destinations/{segment(destination_id)}/replay"), json_of)

    async def set_aside(self, destination_id: str, *, limit: Optional[int] = None) -> AsyncIterator[SetAsideEvent]:
        """The events that the receiver refused, by run and position, page by page. ``limit`` is the size of a page (1 to 100)."""
        cursor: Optional[str] = None
        while True:
            params: Params = {"limit": limit, "cursor": cursor}
            request = call("GET", f"/destinations/{segment(destination_id)}/set-aside", params)
            page = cast(SetAsidePage, await self._transport.send(request, json_of))
            for event in page["events"]:
                yield event
            cursor = page["cursor"]
            if cursor is None:
                return

    async def resend_set_aside(
        self, destination_id: str, *, run: Optional[int] = None, positions: Optional[Sequence[int]] = None
    ) -> ResendResult:
        """Sends events again that were set aside: up to ten ``positions`` of a ``run`` (default 0), or the first ten. Paid plan.

        Ends early where the receiver takes nothing now or responds slowly. Delivered events leave the list.
        """
        body = {"run": run, "positions": positions}
        request = call("POST", f"/destinations/{segment(destination_id)}/set-aside/resend", body=body, is_idempotent=False)
        return cast(ResendResult, await self._transport.send(request, json_of))
