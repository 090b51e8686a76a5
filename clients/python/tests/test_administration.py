"""Keys, rules, webhooks, viewers and streams against the real server."""

import asyncio

import pytest
from audit_server import AuditServer
from conftest import event

from audit_client import NULL, ApiError, AsyncClient, Client


def test_projects_and_keys(own_server: AuditServer) -> None:
    with Client(own_server.base_url, own_server.master_key) as master:
        project = master.projects.create("billing")
        assert project in master.projects.list()
        key = master.keys.create(project_id=project["id"], name="writer", scopes=["events:write"])
        with Client(own_server.base_url, key["key"]) as writer:
            writer.events.ingest(event("acme"))
            with pytest.raises(ApiError) as refused:
                writer.events.page()
            assert refused.value.code == "forbidden"
            successor = master.keys.rotate(key["id"], overlap_seconds=0)
            with pytest.raises(ApiError):
                writer.events.ingest(event("acme"))
        master.keys.revoke(successor["id"])
        listed = {info["id"]: info for info in master.keys.list()}
        assert listed[successor["id"]]["revokedAt"] is not None
        other = master.master_keys.create(name="other", scopes=["admin"])
        follower = master.master_keys.rotate(other["id"], overlap_seconds=60)
        master.master_keys.revoke(follower["id"])
        assert {other["id"], follower["id"]} <= {info["id"] for info in master.master_keys.list()}


def test_redaction_rules(own_server: AuditServer) -> None:
    with Client(own_server.base_url, own_server.master_key) as master:
        rule = master.redaction_rules.create(type="pattern", name="employee", pattern="EMP-[0-9]{6}", behavior="mask")
        tested = master.redaction_rules.test({"metadata": {"note": "EMP-123456"}})
        assert tested["metadata"]["redacted_rules"] == ["custom:employee"]
        assert not master.redaction_rules.update(rule["id"], enabled=False)["enabled"]
        master.redaction_rules.delete(rule["id"])
        assert rule["id"] not in [one["id"] for one in master.redaction_rules.list()]


def test_alerts_and_their_rules(own_server: AuditServer) -> None:
    with Client(own_server.base_url, own_server.master_key) as master:
        rule = master.alert_rules.create(
            name="Exports", action_pattern="*.exported", threshold=2, window_seconds=60, group_by="actor_id", severity="low"
        )
        master.alert_rules.update("bulk_data_export", enabled=False)
        master.events.ingest([event("acme", action="data.exported") for _ in range(2)])
        alerts = list(master.alerts.list(rule_id=rule["id"], limit=1))
        assert [alert["status"] for alert in alerts] == ["open"]
        assert master.alerts.acknowledge(alerts[0]["id"])["status"] == "acknowledged"
        assert master.alerts.resolve(alerts[0]["id"])["status"] == "resolved"
        with pytest.raises(ApiError) as refused:
            master.alerts.acknowledge(alerts[0]["id"])
        assert refused.value.code == "invalid_transition"
        master.alert_rules.delete(rule["id"])
        assert rule["id"] not in [one["id"] for one in master.alert_rules.list()]


def test_webhooks(own_server: AuditServer) -> None:
    with Client(own_server.base_url, own_server.master_key) as master:
        webhook = master.webhooks.create(url="https://hooks.example.com/alerts")
        assert webhook["secret"].startswith("whsec_")
        rotated = master.webhooks.rotate_secret(webhook["id"])
        assert rotated["secret"] not in ("", webhook["secret"])
        delivery = master.webhooks.test(webhook["id"])
        assert delivery["type"] == "webhook.test"
        assert delivery["id"] in [one["id"] for one in master.webhooks.deliveries(webhook["id"], limit=1)]
        assert master.webhooks.retry(delivery["id"])["message_id"] == delivery["message_id"]
        assert not master.webhooks.update(webhook["id"], enabled=False)["enabled"]
        assert [one["id"] for one in master.webhooks.list()] == [webhook["id"]]
        master.webhooks.delete(webhook["id"])
        assert master.webhooks.list() == []


def test_destinations(own_server: AuditServer) -> None:
    with Client(own_server.base_url, own_server.master_key) as master:
        master.events.ingest(event("acme"))
        settings = {"url": "https://siem.example.com/events"}
        made = master.destinations.create(name="SIEM", kind="https", settings=settings, paused=True)
        assert (made["state"], made["credentials"]) == ("paused", ["signing_secret"])
        assert made["signing_secret"].startswith("whsec_")
        other = master.destinations.create(name="test", kind="https", settings=settings, paused=True, environment="test")
        assert [one["id"] for one in master.destinations.list()] == [made["id"]]
        with Client(own_server.base_url, own_server.master_key, environment="test") as master_of_test:
            assert [one["id"] for one in master_of_test.destinations.list()] == [other["id"]]
        changed = master.destinations.update(made["id"], filter={"tenant_ids": ["acme"]}, format="ocsf")
        assert (changed["filter"], changed["format"]) == ({"tenant_ids": ["acme"]}, "ocsf")
        records = master.destinations.preview(made["id"], format="json")["records"]
        assert [record["tenant_id"] for record in records] == ["acme"]
        counted = master.destinations.replay(made["id"], from_seq=0, dry_run=True)
        assert counted["replay"] is None
        assert counted["count"] is not None
        assert counted["count"]["matching"] == 1
        with pytest.raises(ApiError) as refused:
            master.destinations.stop_replay(made["id"])
        assert refused.value.status == 404
        started = master.destinations.replay(made["id"])
        assert started["replay"] is not None
        assert master.destinations.get(made["id"])["replay"] is not None
        master.destinations.stop_replay(made["id"])
        assert master.destinations.get(made["id"])["replay"] is None
        assert list(master.destinations.set_aside(made["id"])) == []
        assert master.destinations.resend_set_aside(made["id"])["events"] == []
        master.destinations.delete(made["id"])
        assert master.destinations.list() == []


def test_viewers(own_server: AuditServer) -> None:
    with Client(own_server.base_url, own_server.master_key) as master, Client(own_server.base_url, own_server.project_key) as audit:
        audit.events.ingest([event("acme", context={"ip_address": "203.0.113.7"}), event("other")])
        tier = master.viewer_tiers.create(name="brief", categories=["mutation"], hidden_fields=["context"])
        assert tier["actions"] is None
        token = audit.viewer_tokens.create("acme", tier="brief", expires_in=600)
        with Client(own_server.base_url, token["token"]) as viewer:
            seen = list(viewer.events.query())
        assert [(one["tenant_id"], "context" in one) for one in seen] == [("acme", False)]
        assert master.viewer_tiers.update("brief", categories=NULL)["categories"] is None
        master.viewer_tiers.delete("brief")
        assert "brief" not in [one["name"] for one in master.viewer_tiers.list()]


def test_a_stream_is_claimed(own_server: AuditServer) -> None:
    with Client(own_server.base_url, stream=True) as stream, Client(own_server.base_url, own_server.master_key) as master:
        stream.record(event("acme"))
        stream.record(event("acme"))
        assert stream.flush()
        token = stream.claim_token
        assert token is not None
        assert stream.streams.info(token)["event_count"] == 2
        assert master.streams.claim(token) == 2
        assert stream.streams.info(token)["status"] == "claimed"
        assert len(list(master.events.query(tenant_id="acme"))) == 2


def test_administration_with_asyncio(own_server: AuditServer) -> None:
    async def use() -> None:
        async with AsyncClient(own_server.base_url, own_server.master_key) as master:
            project = await master.projects.create("billing")
            assert project["id"] in [one["id"] for one in await master.projects.list()]
        async with AsyncClient(own_server.base_url, own_server.project_key) as audit:
            async for _ in audit.alerts.list():
                raise AssertionError("there is no alert")

    asyncio.run(use())
