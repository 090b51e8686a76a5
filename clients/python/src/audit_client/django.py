"""Middleware for Django.

::

    MIDDLEWARE = [..., "django.contrib.auth.middleware.AuthenticationMiddleware", "audit_client.django.AuditMiddleware"]
    AUDIT_LOG = {
        "CLIENT": "shop.audit.client",        # a Client, or the path of one
        "TENANT": "shop.audit.tenant_of",     # a function of the request, or the path of one
    }

Optional are ``ACTOR`` (also an actor) and ``CONTEXT``, functions of the request, and ``ON_FAILURE``: ``"log"`` (default) or
``"raise"``. The event is recorded before the response is sent: whoever sees the response finds its event in the queue, or in the
spool.
"""

import time
from typing import Any, Callable, Dict, Mapping, Optional

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponseBase
from django.utils.module_loading import import_string

from ._client import Client
from .annotations import CURRENT, UNKNOWN, Handled, annotation_of, context_from, event_of, needs_event, report, setting_of
from .types import Actor, Context


def actor_of(request: HttpRequest) -> Optional[Actor]:
    """The user who has signed in."""
    user: Any = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return None
    return {"id": str(user.pk), "type": "user", "name": str(user.get_username())[:512]}


def context_of(request: HttpRequest) -> Context:
    """Address and user agent of the client. Behind a proxy the address is the proxy's: see ``CONTEXT``."""
    return context_from(request.META.get("REMOTE_ADDR"), request.META.get("HTTP_USER_AGENT"))


def imported(value: Any) -> Any:
    load: Callable[[str], Any] = import_string
    return load(value) if isinstance(value, str) else value


class AuditMiddleware:
    """Records the requests of views that have :func:`audit_client.audited`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        options: Mapping[str, Any] = getattr(settings, "AUDIT_LOG", {})
        missing = [name for name in ("CLIENT", "TENANT") if name not in options]
        if missing:
            raise ImproperlyConfigured(f"the setting AUDIT_LOG lacks {' and '.join(missing)}")
        self.get_response = get_response
        self.client: Client = imported(options["CLIENT"])
        self.tenant = imported(options["TENANT"])
        self.actor = imported(options.get("ACTOR", actor_of))
        self.context = imported(options.get("CONTEXT", context_of))
        self.on_failure: str = options.get("ON_FAILURE", "log")
        if self.on_failure not in ("log", "raise"):
            raise ImproperlyConfigured("AUDIT_LOG: ON_FAILURE is neither log nor raise")

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        fields: Dict[str, Any] = {}
        began = time.monotonic()
        token = CURRENT.set(fields)
        try:
            response = self.get_response(request)
        finally:
            CURRENT.reset(token)
        self.record(request, fields, response.status_code, began)
        return response

    def record(self, request: HttpRequest, fields: Dict[str, Any], status: int, began: float) -> None:
        try:
            match, method = request.resolver_match, request.method or ""
            handled = Handled(
                annotation_of(match.func, method) if match is not None else None,
                fields,
                method,
                f"/{match.route}" if match is not None else None,
                status,
                began,
                match.kwargs if match is not None else {},
                lambda: self.context(request),
                request.META.get("HTTP_X_REQUEST_ID"),
                self.on_failure,
                self.client,
            )
            if needs_event(handled):
                actor = handled.given(lambda: setting_of(self.actor, request), UNKNOWN)
                tenant = None if "tenant_id" in fields else self.tenant(request)
                self.client.record(event_of(handled, actor, tenant))
        except Exception as error:
            report(error, self.on_failure, self.client)
