"""The client has a method for every route, parameter and member of the OpenAPI document: clients/conformance/routes.py counts them.

A route of the service without a call here fails this test.
"""

import json
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Dict, Iterator, List

import httpx
import pytest
from conftest import event

from audit_client import NULL, Client

SERVER = Path(__file__).parents[2] / "conformance" / "routes.py"
FEED_FILTERS: Dict[str, Any] = {
    "tenant_id": "acme",
    "actor_id": "u1",
    "actor_type": "user",
    "action": "a.*",
    "category": "auth",
    "target_id": "t1",
    "target_type": "todo",
    "ip_address": "192.0.2.1",
    "session_id": "s1",
    "outcome": "denied",
}
FEED_FILTERS.update({f"not_{name}": [value, "other"] for name, value in FEED_FILTERS.items()})
FEED_FILTERS.update({"metadata": {"order.id": ["1001", "1002"]}, "not_metadata": {"plan": "free"}})
FILTERS: Dict[str, Any] = {
    **FEED_FILTERS,
    "start_date": "2026-01-01",
    "end_date": "2026-01-02",
    "search": "words",
    "search_mode": "prefix",
    "search_in": ["names", "ids"],
}


@pytest.fixture
def base_url() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    yield json.loads(process.stdout.readline())["base_url"]
    process.kill()
    process.stdout.close()
    process.wait()


def problems(base_url: str) -> List[str]:
    found: List[str] = httpx.post(base_url + "/__report", json={}).json()["problems"]
    return found


def use_events(client: Client) -> None:
    client.events.ingest(event("acme"))
    client.events.ingest([event("acme"), event("acme")], receipts=True)
    assert len(list(client.events.query(**FILTERS, id=["evt_1", "evt_2"], order="asc", limit=10))) > 1
    assert client.events.summary(**FILTERS, interval="day", split="category", time_zone="Europe/Berlin")["total"] == 3
    client.events.get("evt_1")
    next(client.events.feed(after="a_cursor", follow=False, limit=10, **FEED_FILTERS))
    assert list(client.events.export(**FILTERS)) == []
    excel = {"for": "excel", "separator": "semicolon", "labels": "de"}
    for zone in ({"utc_offset": "+02:00"}, {"time_zone": "Europe/Berlin"}):
        assert list(client.events.export_csv(**FILTERS, **excel, **zone)) == []
    assert list(client.events.export_xlsx(**FILTERS, time_zone="Europe/Berlin")) == []
    client.events.proof("evt_1")
    client.events.receipt("evt_1")
    client.log.checkpoint(cosigned=True)
    client.log.key()
    client.log.key_rotations()
    client.log.tile("0/000.p/12")
    client.log.consistency(1, 2)
    client.log.completeness(tenant_id="acme")
    client.log.tenants()


def use_keys(client: Client) -> None:
    limits: Dict[str, Any] = {"name": "n", "expires_at": "2027-01-01T00:00:00Z", "scopes": [], "networks": []}
    client.projects.list(archived="all")
    client.projects.get("id")
    client.projects.create("n")
    client.projects.update("id", name="n", archived=True, metadata_filter_paths=["metadata.plan"])
    assert len(list(client.projects.tenants(limit=10))) > 1
    client.keys.list()
    client.keys.get("id")
    client.keys.create(project_id="p", environment="live", **limits)
    client.keys.update("id", name="n", expires_at="2027-01-01T00:00:00Z", networks=NULL)
    client.keys.rotate("id", overlap_seconds=0)
    client.keys.revoke("id")
    client.master_keys.list()
    client.master_keys.get("id")
    client.master_keys.create(**limits)
    client.master_keys.rotate("id", overlap_seconds=0)
    client.master_keys.revoke("id")
    client.viewer_tokens.create("acme", tier="support", expires_in=600, portal=True)
    client.projects.usage()
    assert len(list(client.actions.list(limit=10))) > 1
    client.actions.labels("de")
    client.actions.put("a.b", {"en": {"label": "x", "template": "{actor}"}}, icon="key")
    client.actions.delete("a.b")
    client.portal.get()
    client.portal.update(name="n", logo=NULL, destination_kinds=["https"], sign_in_url="https://app.example.com/")
    client.portal.sign_in_url("id")
    tier: Dict[str, Any] = {"categories": ["auth"], "actions": ["a.*"], "hidden_fields": [], "routes": []}
    client.viewer_tiers.list()
    client.viewer_tiers.get("n")
    client.viewer_tiers.create(name="n", **tier)
    client.viewer_tiers.update("n", **tier)
    client.viewer_tiers.delete("n")


def use_rules(client: Client) -> None:
    client.redaction_rules.list()
    client.redaction_rules.get("id")
    client.redaction_rules.create(type="pattern", name="n", pattern="p", fields=["a"], behavior="mask", enabled=True)
    client.redaction_rules.update("id", name="n", pattern="p", fields=["a"], behavior="mask", enabled=True)
    client.redaction_rules.delete("id")
    client.redaction_rules.test({})
    rule: Dict[str, Any] = {
        "name": "n",
        "action_pattern": "a.*",
        "threshold": 1,
        "window_seconds": 60,
        "group_by": "actor_id",
        "count_distinct": "ip_address",
        "severity": "low",
        "cooldown_seconds": 60,
        "enabled": True,
        "actor_types": ["user"],
        "categories": ["auth"],
        "not_actor_ids": ["backup"],
        "outcomes": ["failure"],
    }
    client.alert_rules.list()
    client.alert_rules.get("id")
    client.alert_rules.create(**rule)
    client.alert_rules.update("id", **rule)
    client.alert_rules.delete("id")


def use_alerts(client: Client) -> None:
    dates = {"start_date": "2026-01-01", "end_date": "2026-01-02"}
    assert len(list(client.alerts.list(status="open", severity="low", rule_id="r", limit=10, **dates))) > 1
    client.alerts.get("id")
    client.alerts.acknowledge("id")
    client.alerts.resolve("id", note="the backup job")
    client.alerts.add_note("id", "the backup job")
    client.webhooks.list()
    client.webhooks.get("id")
    client.webhooks.create(url="https://example.com", format="slack", enabled=True)
    client.webhooks.update("id", url="https://example.com", format="slack", enabled=True)
    client.webhooks.rotate_secret("id")
    client.webhooks.test("id")
    assert len(list(client.webhooks.deliveries("id", status="failed", limit=10))) > 1
    client.webhooks.delivery("id")
    client.webhooks.retry("id")
    client.webhooks.delete("id")


def use_destinations(client: Client) -> None:
    change: Dict[str, Any] = {
        "name": "n",
        "format": "ocsf",
        "include_raw": True,
        "filter": {"categories": ["auth"]},
        "settings": {"url": "https://example.com"},
        "credentials": {"headers": {}},
        "paused": True,
        "ocsf_classes": [{"action": "a.*", "class_uid": 3001, "activity_id": 1}],
    }
    assert [one["kind"] for one in client.destinations.list()] == ["splunk_hec"]
    client.destinations.get("id")
    client.destinations.create(kind="https", environment="live", **change)
    client.destinations.update("id", **change)
    assert client.destinations.test("id")["verdict"] == "credentials"
    assert len(client.destinations.preview("id", format="ocsf")["records"]) == 1
    client.destinations.replay("id", from_seq=0)
    times: Dict[str, Any] = {"from_time": "2026-01-01T00:00:00Z", "to_time": datetime(2026, 1, 2, tzinfo=timezone.utc)}
    assert client.destinations.replay("id", dry_run=True, **times)["count"] == {"matching": 40, "looked_at": 225}
    client.destinations.stop_replay("id")
    assert len(list(client.destinations.set_aside("id", limit=10))) > 1
    assert client.destinations.resend_set_aside("id", run=0, positions=[12])["remaining"] == 0
    client.destinations.delete("id")


def use_retention(client: Client) -> None:
    categories: Any = {"auth": 400, "access": 400, "mutation": 400, "admin": 730, "security": 2190, "system": 366}
    assert client.retention.get()["minimum_days"] == 93
    client.retention.set(days=365, categories=categories)
    client.retention.set(preset="hipaa", archive=True)
    assert client.retention.preview(days=365)["estimated"]
    client.retention.preview(preset="cnil")
    client.retention.confirm("2026-01-01T00:00:00Z")
    client.retention.cancel(1203)
    assert [hold["second_key"] for hold in client.holds.list(released=True)] == [True]
    covers: Dict[str, Any] = {"tenant_id": "acme", "actor_id": "u1", "target_id": "t1"}
    times: Dict[str, Any] = {"from_time": "2026-01-01T00:00:00Z", "to_time": datetime(2026, 1, 2, tzinfo=timezone.utc)}
    client.holds.place("Case 1", second_key=True, **covers, **times)
    client.holds.release("id", "closed")
    assert [removal["kind"] for removal in client.log.removals()] == ["retention"]
    assert client.log.report()["counts"]
    client.log.report_html()


def use_erasures(client: Client) -> None:
    assert [one["state"] for one in client.erasures.list()]
    client.erasures.get("id")
    requested = client.erasures.request(
        ids=["usr_42"], texts=["jane@example.com"], extent="person", basis="gdpr_17", ticket="DSR-118"
    )
    assert requested["basis"] == "gdpr_17"
    assert len(list(client.erasures.events("id", limit=10))) > 1
    client.erasures.exclude("id", [12, 40])
    client.erasures.confirm("id", "sha256:" + 64 * "0")
    client.erasures.cancel("id")


def test_the_client_uses_everything_that_the_document_declares(base_url: str) -> None:
    with Client(base_url, "mk_test", project_id="p", environment="live") as client:
        use_events(client)
        use_keys(client)
        use_rules(client)
        use_alerts(client)
        use_destinations(client)
        use_retention(client)
        use_erasures(client)
        with Client(base_url, stream=True) as stream:
            stream.events.ingest(event("acme"))
            assert stream.claim_token is not None
            client.streams.info(stream.claim_token)
            client.streams.claim(stream.claim_token)
    assert problems(base_url) == []
