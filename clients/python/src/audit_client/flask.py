"""Middleware for Flask.

::

    AuditMiddleware(app, client=audit, tenant=lambda request: g.organization, actor=lambda request: g.actor)

The event is recorded before the response is sent: whoever sees the response finds its event in the queue, or in the spool.
"""

import time
from typing import Any, Callable, Dict, Optional, Union

from flask import Flask, Request, Response, g, request

from ._client import Client
from .annotations import (
    CURRENT,
    UNKNOWN,
    Handled,
    OnFailure,
    annotation_of,
    context_from,
    event_of,
    needs_event,
    report,
    setting_of,
)
from .types import Actor, Context


def context_of(request: Request) -> Context:
    """Address and user agent of the client. Behind a proxy the address is the proxy's, unless ``ProxyFix`` replaces it."""
    return context_from(request.remote_addr, request.headers.get("User-Agent"))


class AuditMiddleware:
    """Records the requests of views that have :func:`audit_client.audited`.

    ``tenant`` and ``actor`` are the tenant's id and the actor, or functions that get the request when the view is done and return
    them, or ``None``. Without an actor the event has the actor ``anonymous``. With ``on_failure="raise"`` a request whose event
    cannot be recorded fails with this error; otherwise it is logged by ``audit_client``.
    """

    def __init__(
        self,
        app: Flask,
        *,
        client: Client,
        tenant: Union[str, Callable[[Request], Optional[str]]],
        actor: Union[Actor, Callable[[Request], Optional[Actor]], None] = None,
        context: Callable[[Request], Context] = context_of,
        on_failure: OnFailure = "log",
    ) -> None:
        self.app = app
        self.client = client
        self.tenant = tenant
        self.actor = actor
        self.context = context
        self.on_failure = on_failure
        app.before_request(self.begin)
        app.after_request(self.end)
        app.teardown_request(self.tear_down)

    def begin(self) -> None:
        g.audit_began, g.audit_fields = time.monotonic(), {}
        CURRENT.set(g.audit_fields)

    def end(self, response: Response) -> Response:
        self.record(response.status_code)
        return response

    def tear_down(self, error: Optional[BaseException]) -> None:
        """Records a request whose error no handler has turned into a response, as with ``PROPAGATE_EXCEPTIONS``."""
        if error is not None:
            self.record(500)
        CURRENT.set(None)

    def record(self, status: int) -> None:
        fields: Optional[Dict[str, Any]] = g.pop("audit_fields", None)
        if fields is None:
            # Recorded already, or a function of the application has responded before this middleware began.
            return
        try:
            view = self.app.view_functions.get(request.endpoint) if request.endpoint else None
            handled = Handled(
                annotation_of(view, request.method),
                fields,
                request.method,
                request.url_rule.rule if request.url_rule is not None else None,
                status,
                g.audit_began,
                request.view_args or {},
                lambda: self.context(request),
                request.headers.get("X-Request-Id"),
                self.on_failure,
                self.client,
            )
            if needs_event(handled):
                actor = handled.given(lambda: setting_of(self.actor, request), UNKNOWN)
                tenant = None if "tenant_id" in fields else setting_of(self.tenant, request)
                self.client.record(event_of(handled, actor, tenant))
        except Exception as error:
            report(error, self.on_failure, self.client)
