"""Middleware for Django.

::

    MIDDLEWARE = [..., "django.contrib.auth.middleware.AuthenticationMiddleware", "audit_client.django.AuditMiddleware"]
    AUDIT_LOG = {
        "CLIENT": "shop.audit.client",        # a Client, or the path of one
        "TENANT": "shop.audit.tenant_of",     # a function of the request, or the path of one
    }

Optional are ``ACTOR`` and ``CONTEXT``, functions of the request, and ``ON_FAILURE``: ``"log"`` (default) or ``"raise"``. The event
is recorded before the response is sent: whoever sees the response finds its event in the queue, or in the spool.
"""

from typing import Any, Callable, Dict, List, Mapping, Optional

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponseBase
from django.utils.module_loading import import_string

from ._client import Client
from .annotations import ATTRIBUTE, CURRENT, LOGGER, Annotation, Handled, event_of, needs_event
from .types import Actor, Context


def actor_of(request: HttpRequest) -> Optional[Actor]:
    """The user who has signed in."""
    user: Any = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return None
    return {"id": str(user.pk), "type": "user", "name": str(user.get_username())[:512]}


def context_of(request: HttpRequest) -> Context:
    """Address and user agent of the client. Behind a proxy the address is the proxy's: see ``CONTEXT``."""
    context: Context = {}
    if request.META.get("REMOTE_ADDR"):
        context["ip_address"] = str(request.META["REMOTE_ADDR"])
    if request.META.get("HTTP_USER_AGENT"):
        context["user_agent"] = str(request.META["HTTP_USER_AGENT"])[:512]
    return context


def annotation_of(view: Callable[..., Any], method: str) -> Optional[Annotation]:
    """The annotation of a view: of the function, of the method of a class-based view, or of its class."""
    view_class = getattr(view, "view_class", None)
    holders: List[Any] = [getattr(view_class, method.lower(), None), view_class, view]
    return next((getattr(holder, ATTRIBUTE) for holder in holders if hasattr(holder, ATTRIBUTE)), None)


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
        token = CURRENT.set(fields)
        try:
            response = self.get_response(request)
        finally:
            CURRENT.reset(token)
        self.record(request, fields, response.status_code)
        return response

    def record(self, request: HttpRequest, fields: Dict[str, Any], status: int) -> None:
        try:
            match = request.resolver_match
            annotation = annotation_of(match.func, request.method or "") if match is not None else None
            path = match.kwargs if match is not None else {}
            handled = Handled(annotation, fields, status, path, self.context(request))
            if needs_event(handled):
                self.client.record(event_of(handled, self.actor(request), self.tenant(request)))
        except Exception:
            if self.on_failure == "raise":
                raise
            LOGGER.exception("an event was not recorded")
