"""Alerts, their rules and their webhooks."""

from typing import AsyncIterator, List, Optional, Sequence, Union, cast

from .._transport import AsyncTransport
from .._wire import Null, Params, call, json_of, segment
from ..types import (
    ActorType,
    Alert,
    AlertPage,
    AlertRule,
    AlertStatus,
    Category,
    DeliveryPage,
    DeliveryStatus,
    DistinctField,
    GroupBy,
    Outcome,
    Severity,
    Time,
    Webhook,
    WebhookDelivery,
    WebhookFormat,
)


class AsyncAlerts:
    """``client.alerts``: fired alerts."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(
        self,
        *,
        rule_id: Optional[str] = None,
        severity: Optional[Severity] = None,
        status: Optional[AlertStatus] = None,
        start_date: Optional[Time] = None,
        end_date: Optional[Time] = None,
        limit: Optional[int] = None,
    ) -> AsyncIterator[Alert]:
        """All alerts that match every given filter, newest first, page by page. ``limit`` is the size of a page (1 to 100)."""
        params: Params = {
            "rule_id": rule_id,
            "severity": severity,
            "status": status,
            "start_date": start_date,
            "end_date": end_date,
            "limit": limit,
        }
        cursor: Optional[str] = None
        while True:
            request = call("GET", "/alerts", {**params, "cursor": cursor}, in_environment=True)
            page = cast(AlertPage, await self._transport.send(request, json_of))
            for alert in page["alerts"]:
                yield alert
            cursor = page["cursor"]
            if cursor is None:
                return

    async def get(self, alert_id: str) -> Alert:
        """One alert."""
        request = call("GET", f"/alerts/{segment(alert_id)}", in_environment=True)
        return cast(Alert, (await self._transport.send(request, json_of))["alert"])

    async def acknowledge(self, alert_id: str, *, note: Optional[str] = None) -> Alert:
        """Marks the alert as acknowledged."""
        return await self._change(alert_id, "acknowledged", note)

    async def resolve(self, alert_id: str, *, note: Optional[str] = None) -> Alert:
        """Ends the alert for good."""
        return await self._change(alert_id, "resolved", note)

    async def add_note(self, alert_id: str, note: str) -> Alert:
        """Records what was found about the alert: 1 to 1,000 characters, in the event ``audit.alert.updated`` of the service."""
        return await self._change(alert_id, None, note)

    async def _change(self, alert_id: str, status: Optional[AlertStatus], note: Optional[str]) -> Alert:
        body = {name: value for name, value in (("status", status), ("note", note)) if value is not None}
        request = call("PATCH", f"/alerts/{segment(alert_id)}", body=body, in_environment=True)
        return cast(Alert, (await self._transport.send(request, json_of))["alert"])


class AsyncAlertRules:
    """``client.alert_rules``"""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> "List[AlertRule]":
        """The built-in rules, then the custom ones."""
        return cast("List[AlertRule]", (await self._transport.send(call("GET", "/alerts/rules"), json_of))["rules"])

    async def get(self, rule_id: str) -> AlertRule:
        """One rule."""
        request = call("GET", f"/alerts/rules/{segment(rule_id)}")
        return cast(AlertRule, (await self._transport.send(request, json_of))["rule"])

    async def create(
        self,
        *,
        name: str,
        action_pattern: str,
        threshold: int,
        window_seconds: int,
        group_by: GroupBy,
        count_distinct: Optional[DistinctField] = None,
        severity: Severity,
        cooldown_seconds: Optional[int] = None,
        enabled: Optional[bool] = None,
        actor_types: Optional[Sequence[ActorType]] = None,
        categories: Optional[Sequence[Category]] = None,
        not_actor_ids: Optional[Sequence[str]] = None,
        outcomes: Optional[Sequence[Outcome]] = None,
    ) -> AlertRule:
        """A custom rule. Master key, paid plan."""
        body = {
            "name": name,
            "action_pattern": action_pattern,
            "threshold": threshold,
            "window_seconds": window_seconds,
            "group_by": group_by,
            "count_distinct": count_distinct,
            "severity": severity,
            "cooldown_seconds": cooldown_seconds,
            "enabled": enabled,
            "actor_types": actor_types,
            "categories": categories,
            "not_actor_ids": not_actor_ids,
            "outcomes": outcomes,
        }
        request = call("POST", "/alerts/rules", body=body, is_idempotent=False)
        return cast(AlertRule, (await self._transport.send(request, json_of))["rule"])

    async def update(
        self,
        rule_id: str,
        *,
        name: Optional[str] = None,
        action_pattern: Optional[str] = None,
        threshold: Optional[int] = None,
        window_seconds: Optional[int] = None,
        group_by: Optional[GroupBy] = None,
        count_distinct: Union[DistinctField, Null, None] = None,
        severity: Optional[Severity] = None,
        cooldown_seconds: Optional[int] = None,
        enabled: Optional[bool] = None,
        actor_types: Optional[Sequence[ActorType]] = None,
        categories: Optional[Sequence[Category]] = None,
        not_actor_ids: Optional[Sequence[str]] = None,
        outcomes: Optional[Sequence[Outcome]] = None,
    ) -> AlertRule:
        """Changes the given fields; ``count_distinct=NULL`` counts events again. Of a built-in rule the name, pattern, grouping,
        ``count_distinct`` and severity are fixed. Master key."""
        body = {
            "name": name,
            "action_pattern": action_pattern,
            "threshold": threshold,
            "window_seconds": window_seconds,
            "group_by": group_by,
            "count_distinct": count_distinct,
            "severity": severity,
            "cooldown_seconds": cooldown_seconds,
            "enabled": enabled,
            "actor_types": actor_types,
            "categories": categories,
            "not_actor_ids": not_actor_ids,
            "outcomes": outcomes,
        }
        request = call("PATCH", f"/alerts/rules/{segment(rule_id)}", body=body)
        return cast(AlertRule, (await self._transport.send(request, json_of))["rule"])

    async def delete(self, rule_id: str) -> None:
        """Ends a custom rule. Its alerts stay. Master key."""
        await self._transport.send(call("DELETE", f"/alerts/rules/{segment(rule_id)}"), json_of)


class AsyncWebhooks:
    """``client.webhooks``. Master key."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> "List[Webhook]":
        """All webhooks, with hidden secrets."""
        return cast("List[Webhook]", (await self._transport.send(call("GET", "/alerts/webhooks"), json_of))["webhooks"])

    async def get(self, webhook_id: str) -> Webhook:
        """One webhook, with a hidden secret."""
        request = call("GET", f"/alerts/webhooks/{segment(webhook_id)}")
        return cast(Webhook, (await self._transport.send(request, json_of))["webhook"])

    async def create(self, *, url: str, format: Optional[WebhookFormat] = None, enabled: Optional[bool] = None) -> Webhook:
        """A webhook, with its secret. Keep it: no other response shows it. Paid plan."""
        request = call("POST", "/alerts/webhooks", body={"url": url, "format": format, "enabled": enabled}, is_idempotent=False)
        return cast(Webhook, (await self._transport.send(request, json_of))["webhook"])

    async def update(
        self, webhook_id: str, *, url: Optional[str] = None, format: Optional[WebhookFormat] = None, enabled: Optional[bool] = None
    ) -> Webhook:
        """Changes the given fields."""
        body = {"url": url, "format": format, "enabled": enabled}
        request = call("PATCH", f"/alerts/webhooks/{segment(webhook_id)}", body=body)
        return cast(Webhook, (await self._transport.send(request, json_of))["webhook"])

    async def rotate_secret(self, webhook_id: str) -> Webhook:
        """A new secret, shown only here. The old one also signs for 24 hours."""
        request = call("POST", f"/alerts/webhooks/{segment(webhook_id)}/rotate-secret", is_idempotent=False)
        return cast(Webhook, (await self._transport.send(request, json_of))["webhook"])

    async def test(self, webhook_id: str) -> WebhookDelivery:
        """Sends a message of the type ``webhook.test``. Paid plan."""
        request = call("POST", f"/alerts/webhooks/{segment(webhook_id)}/test", is_idempotent=False)
        return cast(WebhookDelivery, (await self._transport.send(request, json_of))["delivery"])

    async def deliveries(
        self, webhook_id: str, *, status: Optional[DeliveryStatus] = None, limit: Optional[int] = None
    ) -> AsyncIterator[WebhookDelivery]:
        """The deliveries of a webhook, newest first, page by page."""
        cursor: Optional[str] = None
        while True:
            params: Params = {"status": status, "limit": limit, "cursor": cursor}
            request = call("GET", f"/alerts/webhooks/{segment(webhook_id)}/deliveries", params)
            page = cast(DeliveryPage, await self._transport.send(request, json_of))
            for delivery in page["deliveries"]:
                yield delivery
            cursor = page["cursor"]
            if cursor is None:
                return

    async def delivery(self, delivery_id: str) -> WebhookDelivery:
        """One delivery, with its attempts."""
        request = call("GET", f"/alerts/deliveries/{segment(delivery_id)}")
        return cast(WebhookDelivery, (await self._transport.send(request, json_of))["delivery"])

    async def retry(self, delivery_id: str) -> WebhookDelivery:
        """Attempts a delivery at once. Paid plan."""
        request = call("POST", f"/alerts/deliveries/{segment(delivery_id)}/retry", is_idempotent=False)
        return cast(WebhookDelivery, (await self._transport.send(request, json_of))["delivery"])

    async def delete(self, webhook_id: str) -> None:
        """Deletes a webhook and its deliveries."""
        await self._transport.send(call("DELETE", f"/alerts/webhooks/{segment(webhook_id)}"), json_of)
