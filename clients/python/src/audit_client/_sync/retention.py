# Generated from audit_client/_async by tools/unasync.py. Change that file.
"""Retention and legal holds of the log of one environment."""

from typing import List, Mapping, Optional, cast

from .._transport import Transport
from .._wire import call, json_of, segment
from ..types import Category, Hold, RetentionInfo, RetentionPreset, RetentionPreview, Time


class Retention:
    """``client.retention``: how long events are kept. Master key."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> RetentionInfo:
        """The policy, the plan in its grace period, and the removals."""
        return cast(RetentionInfo, self._transport.send(call("GET", "/retention", in_environment=True), json_of))

    def set(
        self,
        *,
        days: Optional[int] = None,
        categories: Optional[Mapping[Category, int]] = None,
        preset: Optional[RetentionPreset] = None,
        archive: Optional[bool] = None,
    ) -> RetentionInfo:
        """Replaces the policy: ``days`` for all events, more days for some ``categories``, or a ``preset``; nothing for ever.

        With ``archive``, nothing is removed before an archive has it that the log names.
        """
        body = {"days": days, "categories": categories, "preset": preset, "archive": archive}
        request = call("PUT", "/retention", body=body, in_environment=True)
        return cast(RetentionInfo, self._transport.send(request, json_of))

    def preview(self, *, days: Optional[int] = None, preset: Optional[RetentionPreset] = None) -> RetentionPreview:
        """What a policy, by default the one in force, would remove now. The numbers are estimates."""
        request = call("GET", "/retention/preview", {"days": days, "preset": preset}, in_environment=True)
        return cast(RetentionPreview, self._transport.send(request, json_of))

    def confirm(self, until: Time) -> RetentionInfo:
        """Lets plans reach up to a time, where the log is far behind its policy."""
        request = call("POST", "/retention/confirm", body={"until": until}, in_environment=True)
        return cast(RetentionInfo, self._transport.send(request, json_of))

    def cancel(self, plan: int) -> RetentionInfo:
        """Cancels the plan in its grace period, by its ``seq``."""
        request = call("POST", "/retention/cancel", body={"plan": plan}, is_idempotent=False, in_environment=True)
        return cast(RetentionInfo, self._transport.send(request, json_of))


class Holds:
    """``client.holds``: legal holds. The events that one covers are not removed while it is in force. Master key."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, released: Optional[bool] = None) -> "List[Hold]":
        """Those in force, oldest first; with ``released`` also those that were released."""
        request = call("GET", "/holds", {"released": released}, in_environment=True)
        return cast("List[Hold]", (self._transport.send(request, json_of))["holds"])

    def place(
        self,
        reason: str,
        *,
        tenant_id: Optional[str] = None,
        actor_id: Optional[str] = None,
        target_id: Optional[str] = None,
        from_time: Optional[Time] = None,
        to_time: Optional[Time] = None,
        second_key: Optional[bool] = None,
    ) -> Hold:
        """A hold on the events that meet every condition, and on all of them without one.

        With ``second_key`` it is released only with another master key.
        """
        body = {
            "reason": reason,
            "tenant_id": tenant_id,
            "actor_id": actor_id,
            "target_id": target_id,
            "from": from_time,
            "to": to_time,
            "second_key": second_key,
        }
        request = call("POST", "/holds", body=body, is_idempotent=False, in_environment=True)
        return cast(Hold, (self._transport.send(request, json_of))["hold"])

    def release(self, hold_id: str, reason: str) -> Hold:
        """The events that it covered follow the retention policy again."""
        path = f"/holds/{segment(hold_id)}/release"
        request = call("POST", path, body={"reason": reason}, is_idempotent=False, in_environment=True)
        return cast(Hold, (self._transport.send(request, json_of))["hold"])
