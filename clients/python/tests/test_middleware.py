"""The middleware of every framework records what clients/conformance/tables/middleware.json says."""

import asyncio
import json
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional

import flask
import httpx
import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client as DjangoClient
from django.test import override_settings
from django.urls import path
from fastapi import FastAPI
from fastapi import Response as FastApiResponse

import audit_client.asgi
import audit_client.django
import audit_client.flask
from audit_client import annotate, audited
from audit_client.testing import RecordingClient

TABLE: List[Dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "conformance" / "tables" / "middleware.json").read_text(encoding="utf-8")
)
METHODS = ["DELETE", "GET", "POST", "PUT"]


def callback(case: Dict[str, Any], name: str, of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of the application, or one that raises."""

    def broken(_: Any) -> Any:
        raise RuntimeError(f"the callback of the {name} is broken")

    return broken if name in case.get("throws", []) else of


def settings_of(case: Dict[str, Any], context_of: Callable[[Any], Any]) -> Dict[str, Any]:
    """The settings of the middleware."""
    settings = case["settings"]
    return {
        "tenant": callback(case, "tenant", lambda _: settings["tenant_id"]),
        "actor": callback(case, "actor", lambda _: settings["actor"]),
        "context": callback(case, "address", context_of),
    }


def handler_of(case: Dict[str, Any], respond: Callable[[int], Any]) -> Any:
    """What the case's handler does, with its annotation."""

    def handler(*arguments: Any, **path: Any) -> Any:
        if "adds" in case:
            annotate(**case["adds"])
        if case["response"].get("raises"):
            raise RuntimeError("broken")
        return respond(case["response"].get("status", 200))

    annotation = case["annotation"]
    if annotation is None:
        return handler
    kind = annotation.get("target_type")
    target: Any = None if kind is None else callback(case, "target", lambda path: {"id": path["id"], "type": kind})
    audited(annotation["action"], annotation["category"], failed_action=annotation.get("failed_action"), target=target)(handler)
    return handler


def use_fastapi(case: Dict[str, Any], audit: RecordingClient) -> Optional[int]:
    handle = handler_of(case, lambda status: FastApiResponse(status_code=status))

    handling = asyncio.Event()

    async def endpoint(id: str) -> Any:
        response = handle(id=id)
        if case.get("dropped"):
            handling.set()
            await asyncio.Event().wait()
        return response

    endpoint.__dict__.update(handle.__dict__)
    app = FastAPI()
    middleware: Any = audit_client.asgi.AuditMiddleware
    app.add_middleware(middleware, client=audit, **settings_of(case, audit_client.asgi.context_of))
    app.add_api_route("/invoices/{id:path}", endpoint, methods=METHODS)

    async def without_client(scope: Any, receive: Any, send: Any) -> None:
        """As a server that has lost the connection."""

        async def disconnected(message: Any) -> None:
            raise OSError("the client has gone")

        with pytest.raises(OSError):
            await app(scope, receive, disconnected)
        await FastApiResponse()(scope, receive, send)

    async def request() -> Optional[int]:
        served: Any = without_client if case.get("aborted") else app
        transport = httpx.ASGITransport(app=served, raise_app_exceptions=False, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://shop") as http:
            request = case["request"]
            sent = http.request(request["method"], request["path"], headers=request["headers"], json=request.get("body"))
            if not case.get("dropped"):
                return (await sent).status_code
            task = asyncio.ensure_future(sent)
            await handling.wait()
            assert not audit.recorded
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()
            # What records the event, if it still does.
            await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))
            return None

    status = asyncio.run(request())
    return None if case.get("aborted") else status


def use_django(case: Dict[str, Any], audit: RecordingClient) -> Optional[int]:
    handle = handler_of(case, lambda status: HttpResponse(status=status))

    def view(request: HttpRequest, id: str) -> HttpResponse:
        response: HttpResponse = handle(id=id)
        return response

    view.__dict__.update(handle.__dict__)
    urls = ModuleType("urls")
    urls.__dict__["urlpatterns"] = [path("invoices/<str:id>", view)]
    settings = settings_of(case, audit_client.django.context_of)
    options = {"CLIENT": audit, **{name.upper(): value for name, value in settings.items()}}
    with override_settings(AUDIT_LOG=options, MIDDLEWARE=["audit_client.django.AuditMiddleware"], ROOT_URLCONF=urls):
        request = case["request"]
        headers = {name: value for name, value in request["headers"].items() if name != "Content-Type"}
        body = json.dumps(request.get("body")).encode()
        browser = DjangoClient(raise_request_exception=False)
        response = browser.generic(request["method"], request["path"], body, "application/json", headers=headers)
        return int(response.status_code)


def use_flask(case: Dict[str, Any], audit: RecordingClient) -> Optional[int]:
    app = flask.Flask("shop")
    audit_client.flask.AuditMiddleware(app, client=audit, **settings_of(case, audit_client.flask.context_of))
    view = handler_of(case, lambda status: flask.Response(status=status))
    app.add_url_rule("/invoices/<string:id>", "invoices", view, methods=METHODS)
    request = case["request"]
    browser = app.test_client()
    return browser.open(request["path"], method=request["method"], headers=request["headers"], json=request.get("body")).status_code


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case["name"])
@pytest.mark.parametrize("use", [use_fastapi, use_django, use_flask], ids=lambda use: use.__name__)
def test_a_request_is_recorded_as_the_table_says(
    case: Dict[str, Any],
    use: Callable[[Dict[str, Any], RecordingClient], Optional[int]],
    django_project: None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    framework = use.__name__[len("use_") :]
    if framework in (name.lower() for name in case.get("not_dropped_in", {})):
        pytest.skip("it drops no handler")
    audit = RecordingClient()
    status = use(case, audit)
    assert status in (None, case["response"].get("status", 500)), "the response stays"
    if case.get("aborted"):
        assert (framework in (name.lower() for name in case["not_aborted_in"])) == (status is not None), (
            "it is aborted, or the table says why not"
        )
    assert "secret" not in json.dumps(audit.recorded)
    reported = [record for record in caplog.records if record.name == "audit_client"]
    assert len(reported) == case.get("reports", int(case["expect"] == "reported")), caplog.text
    assert audit.stats().middleware_errors == len(reported)
    expected = [case["expect"]] if isinstance(case["expect"], dict) else []
    assert len(audit.recorded) == len(expected)
    for event, wanted in zip(audit.recorded, expected):
        if "duration_ms" in wanted["metadata"]:
            duration = event["metadata"]["duration_ms"]
            assert isinstance(duration, int) and duration >= 0
            event["metadata"]["duration_ms"] = True
        assert event == wanted


@pytest.mark.parametrize("status", [200, 500, None])
def test_asgi_records_a_request_that_is_cancelled_while_its_event_is_recorded(status: Optional[int]) -> None:
    audit = RecordingClient()

    async def use() -> None:
        handling, recording, known = asyncio.Event(), asyncio.Event(), asyncio.Event()

        @audited("invoice.deleted", "mutation", failed_action="invoice.deleted")
        async def delete_invoice(id: str) -> None:
            handling.set()
            if status is None:
                await asyncio.Event().wait()
            if status == 500:
                raise RuntimeError("broken")

        async def actor(_: Any) -> Dict[str, str]:
            recording.set()
            await known.wait()
            return {"id": "user_1", "type": "user"}

        app = FastAPI()
        middleware: Any = audit_client.asgi.AuditMiddleware
        app.add_middleware(middleware, client=audit, tenant="acme", actor=actor)
        app.add_api_route("/invoices/{id}", delete_invoice, methods=["DELETE"])
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://shop") as http:
            task = asyncio.ensure_future(http.delete("/invoices/42"))
            await handling.wait()
            if status is None:
                task.cancel()
            await recording.wait()
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled() and not audit.recorded
            known.set()
            await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))

    asyncio.run(use())
    metadata = {"aborted": True} if status is None else {"status": status}
    audit.assert_recorded({"action": "invoice.deleted", "actor": {"id": "user_1"}, "metadata": metadata}, count=1)


def test_flask_records_a_request_whose_error_is_propagated() -> None:
    audit = RecordingClient()
    app = flask.Flask("shop")
    app.testing = True
    audit_client.flask.AuditMiddleware(app, client=audit, tenant="acme", actor={"id": "user_1", "type": "user"})

    @app.delete("/invoices/<id>")
    @audited("invoice.deleted", "mutation", failed_action="invoice.delete_failed")
    def delete_invoice(id: str) -> str:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError):
        app.test_client().delete("/invoices/42")
    audit.assert_recorded({"action": "invoice.delete_failed", "metadata": {"status": 500}}, count=1)
