"""``record`` reports an event that the service would refuse at once, and writes values of the standard library as JSON."""

import asyncio
import dataclasses
import json
import logging
import uuid
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Dict, List, cast

import pytest
from audit_server import AuditServer
from conftest import event

from audit_client import AsyncClient, Client, EventInput, InvalidEvent, Result
from audit_client.testing import RecordingClient

#: Nothing is sent there: the events are refused before.
NOWHERE = "http://127.0.0.1:9"
TABLES = Path(__file__).parents[2] / "conformance" / "tables"
TABLE: List[Dict[str, Any]] = json.loads((TABLES / "invalid-events.json").read_text(encoding="utf-8"))
ACCEPTED: List[Dict[str, Any]] = json.loads((TABLES / "valid-events.json").read_text(encoding="utf-8"))
VALID: Any = event("acme")
UNWRITABLE: List[Any] = [
    {**VALID, "metadata": {"n": float("nan")}},
    {**VALID, "metadata": {"n": object()}},
    {**VALID, "metadata": {("a", "b"): 1}},
    {**VALID, "metadata": {"text": "x" * 70_000}},
    {**VALID, "occurred_at": datetime(2026, 1, 15)},
    {**VALID, "metadata": {"n": float("inf")}},
    {**VALID, "changes": [object()]},
    ["a list"],
    None,
]


@pytest.mark.parametrize("case", TABLE, ids=lambda case: json.dumps(case["event"]))
def test_an_invalid_event_is_reported_at_once_and_by_its_field(case: Dict[str, Any]) -> None:
    results: List[Result] = []
    with Client(NOWHERE, "pk_live_x", on_result=results.append) as audit:
        assert audit.record(case["event"]) is False
        (result,) = results
        assert isinstance(result.error, InvalidEvent) and f" {case['field']}: " in str(result.error)
        assert result.event == case["event"]
        assert audit.stats() == dataclasses.replace(audit.stats(), recorded=1, stored=0, failed=1, dropped=0, pending=0)
        assert audit.flush() is False and audit.flush() is True
    with Client(NOWHERE, "pk_live_x", on_result=results.append, raise_invalid=True) as audit, pytest.raises(InvalidEvent):
        audit.record(case["event"])
    assert len(results) == 1
    with pytest.raises(InvalidEvent):
        RecordingClient().record(case["event"])


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: str(case["why"]))
def test_what_the_service_accepts_is_recorded(case: Dict[str, Any], server: AuditServer) -> None:
    RecordingClient().record(case["event"])
    results: List[Result] = []
    with Client(server.base_url, server.project_key, on_result=results.append) as audit:
        assert audit.record(case["event"])
        assert audit.flush()
    assert [result.error for result in results] == [None]


@pytest.mark.parametrize("wrong", UNWRITABLE, ids=lambda wrong: repr(wrong)[:80])
def test_what_cannot_be_written_does_not_raise(wrong: Any, caplog: pytest.LogCaptureFixture) -> None:
    results: List[Result] = []
    with Client(NOWHERE, "pk_live_x", on_result=results.append) as audit:
        assert audit.record(wrong) is False
    assert isinstance(results[0].error, InvalidEvent) and results[0].event

    async def use() -> None:
        async with AsyncClient(NOWHERE, "pk_live_x") as audit:
            assert await audit.record(wrong) is False

    with caplog.at_level(logging.ERROR):
        asyncio.run(use())
    assert "the service would refuse the event" in caplog.text


def test_a_structure_within_itself_does_not_raise() -> None:
    loop: Dict[str, Any] = {}
    loop["self"] = loop
    with Client(NOWHERE, "pk_live_x", on_result=lambda _: None) as audit:
        assert audit.record(cast(Any, {**VALID, "metadata": loop})) is False


class Plan(Enum):
    FREE = "free"


@dataclasses.dataclass
class Money:
    amount: Decimal
    currency: str


@dataclasses.dataclass
class Changed:
    field: str
    before: Any = None
    after: Any = None


def test_what_is_valid_as_json_is_recorded(server: AuditServer, audit: Client, tenant: str) -> None:
    made: Any = {**event(tenant), "tenant_id": tenant, "ticket": None}
    made["changes"] = (Changed("plan", Plan.FREE, Money(Decimal("1.50"), "EUR")), MappingProxyType({"field": "seats"}))
    # Two halves that are one character each.
    made["actor"] = {**made["actor"], "name": "\ud83d\ude00" * 512}
    assert audit.record(made)
    assert audit.flush()
    (stored,) = audit.events.query(tenant_id=tenant)
    money = {"amount": "1.50", "currency": "EUR"}
    assert stored["changes"] == [{"field": "plan", "before": "free", "after": money}, {"field": "seats"}]
    assert stored["actor"]["name"] == "\U0001f600" * 512 and "ticket" not in stored


def test_the_time_of_an_event_is_a_datetime_or_a_text(server: AuditServer, audit: Client, tenant: str) -> None:
    made: EventInput = {
        "action": "invoice.paid",
        "category": "mutation",
        "tenant_id": tenant,
        "actor": {"id": "user_1", "type": "user"},
        "occurred_at": datetime(2026, 1, 15, 10, 30, tzinfo=timezone.utc),
    }
    assert audit.record(made) and audit.record({**made, "occurred_at": "2026-01-15T10:30:00Z"})
    assert audit.flush()
    assert [one["occurred_at"] for one in audit.events.query(tenant_id=tenant)] == ["2026-01-15T10:30:00.000Z"] * 2


def test_values_of_the_standard_library_are_recorded(server: AuditServer, audit: Client, tenant: str) -> None:
    identifier = uuid.UUID("6f2b0f0e-3f0e-4c7e-9d0a-0d1f7f6f5a11")
    metadata = {
        "decimal": Decimal("0.10"),
        "uuid": identifier,
        "date": date(2026, 1, 15),
        "datetime": datetime(2026, 1, 15, 10, 30, tzinfo=timezone.utc),
        "local": datetime(2026, 1, 15, 10, 30),
        "set": {"b", "a"},
        "mixed": frozenset({1, "a"}),
        "enum": Plan.FREE,
        "dataclass": Money(Decimal("12.50"), "EUR"),
        "mapping": MappingProxyType({"a": 1}),
        "path": Path("a/b"),
        "half": "emoji \ud83d",
        "pair": "\ud83d\ude00",
        "big": 2**80,
    }
    assert audit.record(
        cast(Any, {**event(tenant), "tenant_id": tenant, "target": {"id": identifier, "type": "user"}, "metadata": metadata})
    )
    assert audit.flush()
    (stored,) = audit.events.query(tenant_id=tenant)
    assert stored["target"]["id"] == str(identifier)
    assert stored["metadata"] == {
        "decimal": "0.10",
        "uuid": str(identifier),
        "date": "2026-01-15",
        "datetime": "2026-01-15T10:30:00.000+00:00",
        "local": "2026-01-15T10:30:00",
        "set": ["a", "b"],
        "mixed": ["a", 1],
        "enum": "free",
        "dataclass": {"amount": "12.50", "currency": "EUR"},
        "mapping": {"a": 1},
        "path": "a/b",
        "half": "emoji \ufffd",
        "pair": "\U0001f600",
        "big": 2**80,
    }
