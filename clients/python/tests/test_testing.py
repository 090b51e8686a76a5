"""The clients for the tests of an application."""

import asyncio
import doctest
from typing import Any, Dict, List

import pytest
from conftest import event

import audit_client.testing
from audit_client import ApiError, EventInput, InvalidEvent
from audit_client.testing import AsyncRecordingClient, RecordingClient


def test_the_example_of_the_module_is_true() -> None:
    assert doctest.testmod(audit_client.testing).failed == 0


def test_an_event_is_found_by_some_of_its_members() -> None:
    with RecordingClient() as audit:
        recorded = event("acme", metadata={"n": [1, 2], "note": "x"})
        assert audit.record(recorded)
        recorded["tenant_id"] = "changed later"
        found = audit.assert_recorded({"tenant_id": "acme", "metadata": {"n": [1, 2]}}, count=1)
        assert "idempotency_key" not in found
        assert audit.flush() and audit.stats().stored == 1
        others: List[Dict[str, Any]] = [
            {"tenant_id": "other"},
            {"metadata": {"n": [1]}},
            {"metadata": {"absent": None}},
            {"tenant_id": {}},
        ]
        for other in others:
            with pytest.raises(AssertionError, match="0 found; recorded: "):
                audit.assert_recorded(other)
            audit.assert_not_recorded(other)
        with pytest.raises(AssertionError, match="2 event"):
            audit.assert_recorded({"tenant_id": "acme"}, count=2)
        with pytest.raises(AssertionError, match="found: "):
            audit.assert_not_recorded()
        audit.clear()
        audit.assert_not_recorded()


def test_events_that_are_sent_directly_are_kept_too() -> None:
    with RecordingClient() as audit:
        assert len(set(audit.events.ingest([event("acme"), event("acme")])["ids"])) == 2
        audit.assert_recorded({"tenant_id": "acme"}, count=2)
        with pytest.raises(ApiError, match="a RecordingClient has no service"):
            audit.events.page()


def test_the_same_with_asyncio() -> None:
    async def use() -> None:
        async with AsyncRecordingClient() as audit:
            await audit.record(event("acme"))
            await audit.events.ingest(event("acme"))
            audit.assert_recorded({"tenant_id": "acme"}, count=2)
            assert audit.stats().recorded == 2

    asyncio.run(use())


@pytest.mark.parametrize(
    "wrong", [{"action": "Login"}, {"category": "other"}, {"tenant_id": ""}, {"actor": {"id": "u", "type": "robot"}}]
)
def test_what_the_service_would_refuse_is_refused(wrong: EventInput) -> None:
    audit = RecordingClient()
    with pytest.raises(ValueError, match=next(iter(wrong))):
        audit.record({**event("acme"), **wrong})
    with pytest.raises(InvalidEvent):
        audit.record(["a list"])  # type: ignore[arg-type]
    audit.assert_not_recorded()
    audit.close()
