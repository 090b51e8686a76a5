"""Ingest, queries, feed, export and errors against the real server."""

import asyncio
import io
import zipfile
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, List

import httpx
import pytest
from audit_server import AuditServer
from conftest import event

from audit_client import ApiError, AsyncClient, Client, NetworkError, Result, RetryPolicy, Spool


def test_recorded_events_are_found(server: AuditServer, tenant: str) -> None:
    results: List[Result] = []
    with Client(server.base_url + "/api/v1/", server.project_key, on_result=results.append) as audit:
        for number in range(25):
            assert audit.record(event(tenant, metadata={"n": number}))
        assert audit.flush()
        stats = audit.stats()
        assert (stats.recorded, stats.stored, stats.failed, stats.dropped, stats.pending) == (25, 25, 0, 0, 0)
        found = list(audit.events.query(tenant_id=tenant, limit=10))
    assert sorted(one["metadata"]["n"] for one in found) == list(range(25))
    assert {one["id"] for one in found} == {result.id for result in results}
    assert {one["idempotency_key"] for one in found} == {result.event["idempotency_key"] for result in results}


def test_one_event_and_a_batch_are_ingested_directly(audit: Client, tenant: str) -> None:
    one = audit.events.ingest(event(tenant))
    assert len(one["ids"]) == 1
    batch = audit.events.ingest([event(tenant), event(tenant, category="nonsense"), event(tenant)])
    assert len(batch["ids"]) == 2
    assert [(entry["index"], entry["code"]) for entry in batch["errors"]] == [(1, "validation_error")]
    assert batch["errors"][0]["details"][0]["field"] == "category"
    for wrong in ([], [event(tenant)] * 101):
        with pytest.raises(ValueError, match="1 to 100"):
            audit.events.ingest(wrong)


def test_a_repeat_with_an_idempotency_key_of_the_caller_is_stored_once(audit: Client, tenant: str) -> None:
    for _ in range(2):
        audit.record(event(tenant, idempotency_key=f"{tenant}-1"))
        assert audit.flush()
    assert audit.stats().failed == 0
    assert len(list(audit.events.query(tenant_id=tenant))) == 1


def test_an_event_that_json_cannot_express_is_not_sent(audit: Client, tenant: str) -> None:
    unserializable: List[Any] = [float("nan"), object(), {("a",): 1}]
    for value in unserializable:
        with pytest.raises((TypeError, ValueError)):
            audit.events.ingest(event(tenant, metadata={"value": value}))


def test_an_event_that_the_server_cannot_read_is_refused_alone(server: AuditServer, tenant: str) -> None:
    results: List[Result] = []
    with Client(server.base_url, server.project_key, on_result=results.append) as audit:
        for number in range(5):
            # Two keys that JSON makes equal: the server refuses the text of the whole request.
            audit.record(event(tenant, metadata={1: "a", "1": "b"} if number == 2 else {"n": number}))
    errors = [result.error for result in results if result.error is not None]
    assert len(results) == 5 and len(errors) == 1
    assert isinstance(errors[0], ApiError) and errors[0].code == "validation_error"


def test_filters_and_pages(audit: Client, tenant: str) -> None:
    start = datetime.now(timezone.utc) - timedelta(days=3)
    for day in range(4):
        when = (start + timedelta(days=day)).isoformat()
        audit.events.ingest(event(tenant, action=f"day.number_{day}", occurred_at=when, actor={"id": f"u{day}", "type": "service"}))
    pages = audit.events.page(tenant_id=tenant, limit=3)
    assert [one["action"] for one in pages["events"]] == ["day.number_3", "day.number_2", "day.number_1"]
    assert pages["has_more"]
    assert [one["action"] for one in audit.events.page(tenant_id=tenant, limit=3, cursor=pages["cursor"])["events"]] == [
        "day.number_0"
    ]
    middle = audit.events.query(
        tenant_id=tenant, start_date=start + timedelta(hours=12), end_date=start + timedelta(days=2, hours=1)
    )
    assert [one["action"] for one in middle] == ["day.number_2", "day.number_1"]
    assert [one["action"] for one in audit.events.query(tenant_id=tenant, actor_id="u1")] == ["day.number_1"]
    assert [one["action"] for one in audit.events.query(tenant_id=tenant, search="number 0")] == ["day.number_0"]
    with pytest.raises(ValueError, match="time zone"):
        next(audit.events.query(start_date=datetime(2026, 1, 15)))


def test_feed_and_export_have_all_events(audit: Client, tenant: str) -> None:
    audit.events.ingest([event(tenant, metadata={"n": number}) for number in range(7)])
    pages = list(audit.events.feed(follow=False, limit=3, tenant_id=tenant))
    fed = [one["metadata"]["n"] for page in pages for one in page["events"]]
    assert fed == list(range(7))
    audit.events.ingest(event(tenant, metadata={"n": 7}))
    following = audit.events.feed(after=pages[-1]["cursor"], tenant_id=tenant)
    assert [one["metadata"]["n"] for one in next(following)["events"]] == [7]
    assert sorted(one["metadata"]["n"] for one in audit.events.export(tenant_id=tenant)) == list(range(8))
    csv = b"".join(audit.events.export_csv(tenant_id=tenant)).decode()
    assert len(csv.splitlines()) == 9
    workbook = zipfile.ZipFile(io.BytesIO(b"".join(audit.events.export_xlsx(tenant_id=tenant))))
    assert workbook.testzip() is None
    assert workbook.read("xl/worksheets/sheet1.xml").count(b"<row ") == 9


def test_a_feed_that_is_followed_outlasts_an_outage(tenant: str) -> None:
    """The service does not respond for two sends of three attempts each; the third is refused for good."""
    responses = [httpx.Response(200, json={"events": [], "cursor": "c1", "has_more": False})]
    responses += [httpx.Response(503, json={"error": {"code": "unavailable"}})] * 6
    responses += [httpx.Response(200, json={"events": [], "cursor": "c2", "has_more": False})]
    responses += [httpx.Response(401, json={"error": {"code": "invalid_api_key"}})]
    asked = []

    def respond(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.params.get("after"))
        return responses.pop(0)

    options: Any = {"retry": RetryPolicy(backoff_seconds=0.001), "http_options": {"transport": httpx.MockTransport(respond)}}
    with Client("http://127.0.0.1:9", "pk_live_x", **options) as audit:
        pages = audit.events.feed(tenant_id=tenant)
        assert [next(pages)["cursor"], next(pages)["cursor"]] == ["c1", "c2"]
        with pytest.raises(ApiError, match="401"):
            next(pages)
        assert asked == [None, *["c1"] * 7, "c2"]
        responses += [httpx.Response(503, json={"error": {"code": "unavailable"}})] * 3
        with pytest.raises(ApiError, match="503"):
            next(audit.events.feed(follow=False))


def test_errors_are_typed(server: AuditServer, audit: Client) -> None:
    with pytest.raises(ApiError) as invalid:
        audit.events.ingest({"action": "Created"})  # type: ignore[arg-type]
    assert (invalid.value.status, invalid.value.code) == (400, "validation_error")
    assert {"tenant_id", "category", "actor"} <= {detail["field"] for detail in invalid.value.details}
    assert invalid.value.request_id is not None and invalid.value.request_id.startswith("req_")
    assert "tenant_id: Required" in str(invalid.value)
    with pytest.raises(ApiError) as missing:
        audit.events.get("evt_01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert (missing.value.status, missing.value.code) == (404, "not_found")
    with Client(server.base_url, "pk_live_wrong") as wrong, pytest.raises(ApiError) as refused:
        wrong.events.page()
    assert (refused.value.status, refused.value.code) == (401, "invalid_api_key")


def test_a_server_that_is_not_there_is_a_network_error() -> None:
    with Client("http://127.0.0.1:9", "pk_live_x", retry=RetryPolicy(backoff_seconds=0.001)) as audit:
        with pytest.raises(NetworkError, match="ConnectError"):
            audit.events.page()


@pytest.mark.parametrize(
    ("arguments", "options", "named"),
    [
        (("ftp://example.com", "pk_live_x"), {}, "base_url"),
        (("http://example.com",), {}, "api_key"),
        (("http://example.com", "pk_live_x"), {"stream": True}, "api_key"),
        (("http://example.com", "pk_live_x\n"), {}, "api_key"),
        (("http://example.com", ""), {}, "api_key"),
        (("http://example.com",), {"stream": True, "spool": Spool("never made")}, "claim_token"),
        (("http://example.com", "pk_live_x"), {"batch_events": 101}, "batch_events"),
        (("http://example.com", "pk_live_x"), {"queue_events_max": 5}, "queue_events_max"),
        (("http://example.com", "pk_live_x"), {"overflow": "ignore"}, "overflow"),
        (("http://example.com",), {"stream": True, "claim_token": "6ba7b810-9dad-11d1-80b4-00c04fd430c8"}, "claim_token"),
        (("http://example.com",), {"stream": True, "claim_token": "mine"}, "claim_token"),
        (("http://example.com", "pk_live_x"), {"batch_events": "10"}, "batch_events"),
        (("http://example.com", "pk_live_x"), {"flush_interval_seconds": -1}, "flush_interval_seconds"),
        (("http://example.com", "pk_live_x"), {"block_seconds_max": float("nan")}, "block_seconds_max"),
        (("http://example.com", "pk_live_x"), {"timeout_seconds": "5"}, "timeout_seconds"),
    ],
)
def test_options_that_cannot_work_are_refused(arguments: Any, options: Dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Client(*arguments, **options)


def test_ids_that_would_name_another_path_are_refused(audit: Client) -> None:
    for wrong in ("", "..", "a/b", "a?b", "ä"):
        with pytest.raises(ValueError, match="is not an id"):
            audit.events.get(wrong)


def test_asyncio(server: AuditServer, tenant: str) -> None:
    async def use() -> None:
        async with AsyncClient(server.base_url, server.project_key) as audit:
            await audit.record(event(tenant, metadata={"n": 0}))
            assert await audit.flush()
            await audit.events.ingest([event(tenant, metadata={"n": 1}), event(tenant, metadata={"n": 2})])
            found = [one["metadata"]["n"] async for one in audit.events.query(tenant_id=tenant, limit=2)]
            assert sorted(found) == [0, 1, 2]
            exported = [one["metadata"]["n"] async for one in audit.events.export(tenant_id=tenant)]
            assert sorted(exported) == [0, 1, 2]
            pages = [page async for page in audit.events.feed(follow=False, tenant_id=tenant)]
            assert [one["metadata"]["n"] for page in pages for one in page["events"]] == [0, 1, 2]
            with pytest.raises(ApiError):
                await audit.projects.list()

    asyncio.run(use())


def test_the_environment_of_a_master_key(server: AuditServer, tenant: str) -> None:
    with Client(server.base_url, server.master_key, environment="test") as test, Client(server.base_url, server.master_key) as live:
        test.record(event(tenant))
        assert test.flush()
        assert len(list(test.events.query(tenant_id=tenant))) == 1
        assert list(live.events.query(tenant_id=tenant)) == []
