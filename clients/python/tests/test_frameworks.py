"""The logging handler and the middleware for ASGI and Django."""

import asyncio
import logging
from pathlib import Path
from typing import Any, Dict, Iterator, List, cast

import httpx
import pytest
from audit_server import AuditServer
from django.http import HttpRequest, HttpResponse
from django.test import Client as DjangoClient
from django.test import override_settings
from django.urls import path
from django.views import View
from fastapi import Depends, FastAPI, HTTPException, Request

from audit_client import AsyncClient, Client, QueueFull, Spool, annotate, audited
from audit_client.asgi import AuditMiddleware
from audit_client.loghandler import AuditHandler


def found(server: AuditServer, tenant: str) -> List[Dict[str, Any]]:
    """The stored events of a tenant, oldest first."""
    with Client(server.base_url, server.project_key) as audit:
        return cast(List[Dict[str, Any]], sorted(audit.events.query(tenant_id=tenant), key=lambda one: one["id"]))


# logging


@pytest.fixture
def logger(tenant: str) -> Iterator[logging.Logger]:
    logger = logging.getLogger(f"shop.{tenant}")
    logger.setLevel(logging.INFO)
    yield logger
    for handler in list(logger.handlers):
        logger.removeHandler(handler)


USER_CREATED = {"action": "user.created", "actor": {"id": "user_1", "type": "user"}}


def test_log_records_with_an_audit_event_are_recorded(server: AuditServer, logger: logging.Logger, tenant: str) -> None:
    with Client(server.base_url, server.project_key) as audit:
        logger.addHandler(AuditHandler(audit, defaults={"tenant_id": tenant, "category": "mutation"}))
        logger.info("not for the audit log")
        logger.info("user %s created", "user_1", extra={"audit": USER_CREATED})
        logger.handlers[0].flush()
    (event,) = found(server, tenant)
    assert event["action"] == "user.created" and event["category"] == "mutation"
    assert event["metadata"] == {"message": "user user_1 created", "logger": logger.name, "level": "INFO"}


def test_a_full_queue_makes_the_logging_thread_wait(server: AuditServer, logger: logging.Logger, tenant: str) -> None:
    with Client(server.base_url, server.project_key, queue_events_max=10, overflow="drop_newest") as audit:
        logger.addHandler(AuditHandler(audit, defaults={"tenant_id": tenant, "category": "mutation"}, raise_errors=True))
        for _ in range(200):
            logger.info("created", extra={"audit": USER_CREATED})
    assert audit.stats().dropped == 0
    assert len(found(server, tenant)) == 200


def test_the_sending_of_events_is_not_an_event(server: AuditServer, tenant: str) -> None:
    """On the root logger, with a handler that makes an event of everything: httpx logs each request."""
    root = logging.getLogger()
    level = root.level
    with Client(server.base_url, server.project_key, batch_events=1, queue_events_max=5) as audit:
        handler = AuditHandler(
            audit, raise_errors=True, event_of=lambda record: cast(Any, {**USER_CREATED, "tenant_id": tenant, "category": "auth"})
        )
        root.addHandler(handler)
        root.setLevel(logging.INFO)
        try:
            for _ in range(20):
                root.info("something happened")
            assert audit.flush()
        finally:
            root.removeHandler(handler)
            root.setLevel(level)
    assert handler.failures == 0
    assert len(found(server, tenant)) == 20


def test_a_log_record_that_cannot_be_recorded_is_counted(logger: logging.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    with Client("http://127.0.0.1:9", "pk_live_x") as audit:
        handler = AuditHandler(audit)
        logger.addHandler(handler)
        logger.info("broken", extra={"audit": {"metadata": {"value": float("nan")}}})
        assert handler.failures == 1
        assert "InvalidEvent" in capsys.readouterr().err
        handler.raise_errors = True
        with pytest.raises(ValueError):
            logger.info("broken", extra={"audit": {"metadata": {"value": float("nan")}}})


# ASGI


def application(client: Any, tenant: str, **options: Any) -> FastAPI:
    def sign_in(request: Request) -> None:
        if "x-user" in request.headers:
            request.state.actor = {"id": request.headers["x-user"], "type": "user"}

    app = FastAPI(dependencies=[Depends(sign_in)])
    app.add_middleware(
        cast(Any, AuditMiddleware),
        client=client,
        tenant=lambda scope: tenant,
        actor=lambda scope: scope["state"].get("actor"),
        **options,
    )

    @app.delete("/invoices/{invoice_id}")
    @audited(
        "invoice.deleted",
        "mutation",
        failed_action="invoice.delete_refused",
        target=lambda path: {"type": "invoice", "id": path["invoice_id"]},
    )
    def delete_invoice(invoice_id: str) -> Dict[str, str]:
        if invoice_id == "forbidden":
            raise HTTPException(403)
        if invoice_id == "broken":
            raise RuntimeError("broken")
        annotate(changes=[{"field": "total", "before": 12}], metadata={"reason": "duplicate"})
        return {"deleted": invoice_id}

    @app.get("/invoices")
    async def list_invoices() -> List[str]:
        return []

    @app.post("/login")
    async def login() -> Dict[str, str]:
        annotate(action="user.signed_in", category="auth", actor={"id": "user_7", "type": "user"})
        return {}

    return app


async def request(app: FastAPI, method: str, path: str, **headers: str) -> httpx.Response:
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False, client=("203.0.113.7", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://shop") as http:
        return await http.request(method, path, headers={"User-Agent": "browser", **headers})


def test_asgi_records_annotated_requests(server: AuditServer, tenant: str) -> None:
    async def use() -> None:
        async with AsyncClient(server.base_url, server.project_key) as audit:
            app = application(audit, tenant)
            assert (await request(app, "DELETE", "/invoices/42", **{"X-User": "user_5"})).json() == {"deleted": "42"}
            assert (await request(app, "GET", "/invoices")).status_code == 200
            assert (await request(app, "GET", "/nowhere")).status_code == 404
            assert (await request(app, "DELETE", "/invoices/forbidden")).status_code == 403
            assert (await request(app, "DELETE", "/invoices/broken")).status_code == 500
            assert (await request(app, "POST", "/login")).status_code == 200
            assert await audit.flush()

    asyncio.run(use())
    events = found(server, tenant)
    assert [event["action"] for event in events] == [
        "invoice.deleted",
        "invoice.delete_refused",
        "invoice.delete_refused",
        "user.signed_in",
    ]
    assert events[0]["target"] == {"type": "invoice", "id": "42"}
    assert events[0]["context"] == {"ip_address": "203.0.113.7", "user_agent": "browser"}
    assert events[0]["metadata"].items() >= {"status": 200, "route": "/invoices/{invoice_id}", "reason": "duplicate"}.items()
    assert events[0]["changes"] == [{"field": "total", "before": 12}]
    assert [event["metadata"]["status"] for event in events] == [200, 403, 500, 200]
    assert [event["actor"]["id"] for event in events] == ["user_5", "anonymous", "anonymous", "user_7"]


def test_asgi_with_the_client_for_threads_and_a_spool(server: AuditServer, tenant: str, tmp_path: Path) -> None:
    with Client(server.base_url, server.project_key, spool=Spool(tmp_path)) as audit:
        assert asyncio.run(request(application(audit, tenant), "DELETE", "/invoices/42")).status_code == 200
        # The response came after the event was on the disk.
        assert audit.stats().recorded == 1
    assert len(found(server, tenant)) == 1


def test_asgi_with_a_failure_to_record(tenant: str, caplog: pytest.LogCaptureFixture) -> None:
    audit = Client("http://127.0.0.1:9", "pk_live_x")
    audit.close()
    assert asyncio.run(request(application(audit, tenant), "DELETE", "/invoices/42")).status_code == 200
    assert "an event was not recorded" in caplog.text
    failing = application(audit, tenant, on_failure="raise")
    assert asyncio.run(request(failing, "DELETE", "/invoices/42")).status_code == 500
    without_tenant = application(audit, "", on_failure="raise")
    assert asyncio.run(request(without_tenant, "DELETE", "/invoices/42")).status_code == 500


def test_annotate_outside_of_a_request_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="middleware"):
        annotate(metadata={})


# Django


@audited(
    "invoice.deleted", "mutation", failed_action="invoice.delete_refused", target=lambda path: {"type": "invoice", "id": path["pk"]}
)
def delete_invoice(request: HttpRequest, pk: str) -> HttpResponse:
    if pk == "forbidden":
        return HttpResponse(status=403)
    if pk == "broken":
        raise RuntimeError("broken")
    annotate(metadata={"reason": "duplicate"})
    return HttpResponse("deleted")


class Invoices(View):
    @audited("invoice.created", "mutation")
    def post(self, request: HttpRequest) -> HttpResponse:
        return HttpResponse("created")

    def get(self, request: HttpRequest) -> HttpResponse:
        return HttpResponse("[]")


urlpatterns = [path("invoices/<pk>", delete_invoice), path("invoices", Invoices.as_view())]


class Audit:
    """What the settings name."""

    client: Any = None
    tenant = ""


def tenant_of(request: HttpRequest) -> str:
    return Audit.tenant


class DjangoAudit:
    """The client of the settings, exchanged by the tests."""

    def record(self, event: Any) -> bool:
        return bool(Audit.client.record(event))


@pytest.fixture
def configured(django_project: None) -> Iterator[None]:
    options = {"CLIENT": DjangoAudit(), "TENANT": f"{__name__}.tenant_of"}
    with override_settings(AUDIT_LOG=options, MIDDLEWARE=["audit_client.django.AuditMiddleware"], ROOT_URLCONF=__name__):
        yield


def test_django_records_annotated_requests(server: AuditServer, tenant: str, configured: None) -> None:
    with Client(server.base_url, server.project_key) as audit:
        Audit.client, Audit.tenant = audit, tenant
        browser = DjangoClient(raise_request_exception=False, headers={"User-Agent": "browser"})
        assert browser.delete("/invoices/42").status_code == 200
        assert browser.delete("/invoices/forbidden").status_code == 403
        assert browser.delete("/invoices/broken").status_code == 500
        assert browser.post("/invoices").status_code == 200
        assert browser.get("/invoices").status_code == 200
        assert browser.get("/nowhere").status_code == 404
    events = found(server, tenant)
    assert [event["action"] for event in events] == [
        "invoice.deleted",
        "invoice.delete_refused",
        "invoice.delete_refused",
        "invoice.created",
    ]
    assert events[0]["target"] == {"type": "invoice", "id": "42"}
    assert events[0]["context"] == {"ip_address": "127.0.0.1", "user_agent": "browser"}
    assert events[0]["metadata"].items() >= {"status": 200, "route": "/invoices/{pk}", "reason": "duplicate"}.items()


def test_django_with_a_failure_to_record(tenant: str, configured: None, caplog: pytest.LogCaptureFixture) -> None:
    class Full:
        def record(self, event: Any) -> bool:
            raise QueueFull("full")

    Audit.client, Audit.tenant = Full(), tenant
    assert DjangoClient().post("/invoices").status_code == 200
    assert "an event was not recorded" in caplog.text
