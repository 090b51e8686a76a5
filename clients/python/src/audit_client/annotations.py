"""Who did what, from the annotation of a request handler. The middleware for ASGI, Django and Flask share it.

``clients/conformance/README.md``, "Middleware", has the contract that the middleware of all clients keep.

::

    @app.delete("/invoices/{invoice_id}")
    @audited("invoice.deleted", "mutation", target=lambda path: {"type": "invoice", "id": path["invoice_id"]})
    def delete_invoice(invoice_id: str) -> None:
        invoice = ...
        annotate(changes=[{"field": "total", "before": invoice.total}])
"""

import logging
import re
import time
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Literal, Mapping, Optional, TypeVar, cast

from .types import Actor, Category, Change, Context, EventInput, Outcome, Target

LOGGER = logging.getLogger("audit_client")
ATTRIBUTE = "__audit__"
#: The actor of a request that nobody has signed in for.
ANONYMOUS: Actor = {"id": "anonymous", "type": "user"}
#: The actor where the function that knows it raises.
UNKNOWN: Actor = {"id": "unknown", "type": "system"}
#: From this status on, a request has failed.
FAILED_STATUS = 400
#: The statuses of a request that the actor may not make (RFC 9110, sections 15.5.2 and 15.5.4).
DENIED_STATUSES = (401, 403)
USER_AGENT_CHARS_MAX = 512
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
#: A parameter in the route of Django and Flask: ``<pk>``, ``<int:pk>``; not one of a regular expression, ``(?P<pk>…)``.
ANGLE_PARAMETER = re.compile(r"(?<!\?P)<(?:[^<>:]*:)?([^<>:]+)>")
#: A parameter with a type or a pattern: ``{id:int}``.
TYPED_PARAMETER = re.compile(r"\{(\w+):[^{}]*\}")

OnFailure = Literal["log", "raise"]

F = TypeVar("F", bound=Callable[..., Any])
#: What :func:`annotate` was called with during the present request.
CURRENT: ContextVar[Optional[Dict[str, Any]]] = ContextVar("audit_client_annotations", default=None)


@dataclass(frozen=True)
class Annotation:
    """What :func:`audited` says about a handler."""

    action: str
    category: Category
    failed_action: Optional[str] = None
    target: Optional[Callable[[Mapping[str, Any]], Target]] = None


def audited(
    action: str,
    category: Category,
    *,
    failed_action: Optional[str] = None,
    target: Optional[Callable[[Mapping[str, Any]], Target]] = None,
) -> Callable[[F], F]:
    """Every successful request of the handler is recorded as ``action``.

    With ``failed_action`` the requests with a status of 400 and more are recorded too, under that action. ``target`` makes the
    target from the parameters in the path. The decorator changes nothing about the handler; put it below the one of the route.
    """

    def annotated(handler: F) -> F:
        setattr(handler, ATTRIBUTE, Annotation(action, category, failed_action, target))
        return handler

    return annotated


def annotate(
    *,
    action: Optional[str] = None,
    category: Optional[Category] = None,
    tenant_id: Optional[str] = None,
    actor: Optional[Actor] = None,
    target: Optional[Target] = None,
    targets: Optional[List[Target]] = None,
    outcome: Optional[Outcome] = None,
    metadata: Optional[Mapping[str, Any]] = None,
    changes: Optional[List[Change]] = None,
    idempotency_key: Optional[str] = None,
) -> None:
    """Adds to the event of the present request. ``metadata`` is merged; everything else replaces what was there.

    The event of a request that fails or is cancelled does not take ``idempotency_key``: that of a repeat that succeeds can have it.
    """
    fields = CURRENT.get()
    if fields is None:
        raise RuntimeError("annotate() needs the middleware of audit_client, and a request that is being handled")
    given = {
        "action": action,
        "category": category,
        "tenant_id": tenant_id,
        "actor": actor,
        "target": target,
        "targets": targets,
        "outcome": outcome,
        "changes": changes,
        "idempotency_key": idempotency_key,
    }
    fields.update({name: value for name, value in given.items() if value is not None})
    before, added = fields.get("metadata", {}), {} if metadata is None else metadata
    # What is no object is refused when the event is recorded: an error here would be one of the handler.
    are_objects = isinstance(before, Mapping) and isinstance(added, Mapping)
    fields["metadata"] = {**before, **added} if are_objects else added or before


@dataclass
class Handled:
    """A request that was handled, as its framework describes it."""

    annotation: Optional[Annotation]
    #: What :func:`annotate` added.
    fields: Dict[str, Any]
    method: str
    #: The template of the path; the path itself can have secrets.
    route: Optional[str]
    #: ``None`` if the server has dropped the handler before it responded: whether it has done its work is unknown.
    status: Optional[int]
    #: ``time.monotonic()`` at its beginning.
    began: float
    #: The parameters in the path.
    path: Mapping[str, Any]
    context: Callable[[], Context]
    #: The header ``X-Request-Id``.
    request_id: Optional[str]
    on_failure: str
    client: Any

    @property
    def has_failed(self) -> bool:
        return self.status is not None and self.status >= FAILED_STATUS

    def given(self, of: Callable[[], Any], otherwise: Any = None) -> Any:
        """What a function of the application returns. If it raises, the event has ``otherwise``, and the error is reported."""
        try:
            return of()
        except Exception as error:
            report(error, self.on_failure, self.client)
            return otherwise


def report(error: Exception, on_failure: str, client: Any) -> None:
    """Counts the error and logs it, or raises it in the request if the application has chosen that."""
    note = getattr(client, "note_middleware_error", None)
    if note is not None:
        note()
    if on_failure == "raise":
        raise error
    LOGGER.error("an event was not recorded, or not all of it: %s", error, exc_info=error)


def needs_event(handled: Handled) -> bool:
    """Whether the request is to be recorded."""
    if handled.has_failed:
        return handled.annotation is not None and handled.annotation.failed_action is not None
    return handled.annotation is not None or "action" in handled.fields


def event_of(handled: Handled, actor: Optional[Actor], tenant_id: Optional[str]) -> EventInput:
    """The event of a request for which :func:`needs_event` holds."""
    event: Dict[str, Any] = {"actor": actor or ANONYMOUS, "tenant_id": tenant_id}
    if handled.status is not None:
        event["outcome"] = outcome_of(handled.status)
    annotation = handled.annotation
    if annotation is not None:
        event["action"], event["category"] = annotation.action, annotation.category
        if annotation.target is not None and "targets" not in handled.fields:
            make = annotation.target
            target = handled.given(lambda: make(handled.path))
            event.update({} if target is None else {"target": target})
    context = handled.given(handled.context)
    if context:
        event["context"] = context
    event.update(handled.fields)
    if annotation is not None and (handled.has_failed or (handled.status is None and annotation.failed_action is not None)):
        event["action"] = annotation.failed_action
    if handled.status is None or handled.has_failed:
        # Left to the event of a repeat that succeeds: the service would refuse that as a conflict.
        event.pop("idempotency_key", None)
    metadata = event.get("metadata", {})
    if not isinstance(metadata, Mapping):
        raise ValueError(f"metadata of {event['action']}: must be an object")
    event["metadata"] = {**facts_of(handled, "idempotency_key" in event), **metadata}
    if not event["tenant_id"]:
        raise ValueError(f"no tenant is known for {event['action']}; the tenant callable returned none")
    if "category" not in event:
        raise ValueError(f"no category is known for {event['action']}")
    return cast(EventInput, event)


def outcome_of(status: int) -> Outcome:
    """How a request with this status ended."""
    if status in DENIED_STATUSES:
        return "denied"
    return "failure" if status >= FAILED_STATUS else "success"


def facts_of(handled: Handled, has_key: bool) -> Dict[str, Any]:
    """The metadata of every recorded request. With a key of the application only what its repeats have too: they are compared."""
    facts: Dict[str, Any] = {"method": handled.method}
    facts.update({"aborted": True} if handled.status is None else {"status": handled.status})
    if handled.route:
        facts["route"] = TYPED_PARAMETER.sub(r"{\1}", ANGLE_PARAMETER.sub(r"{\1}", handled.route))
    if has_key:
        return facts
    facts["duration_ms"] = int((time.monotonic() - handled.began) * 1000)
    if handled.request_id is not None and REQUEST_ID.fullmatch(handled.request_id):
        facts["request_id"] = handled.request_id
    return facts


def context_from(address: Optional[str], user_agent: Optional[str]) -> Context:
    """Address and user agent of the client."""
    context: Context = {}
    if address:
        # An IPv4 address as a socket for both versions has it.
        context["ip_address"] = address[len("::ffff:") :] if address.startswith("::ffff:") and "." in address else address
    if user_agent:
        context["user_agent"] = user_agent[:USER_AGENT_CHARS_MAX]
    return context


def annotation_of(view: Any, method: str) -> Optional[Annotation]:
    """The annotation of a view of Django or Flask: of the function, of the method of a class-based view, or of its class."""
    view_class = getattr(view, "view_class", None)
    holders: List[Any] = [getattr(view_class, method.lower(), None), view_class, view]
    return next((getattr(holder, ATTRIBUTE) for holder in holders if hasattr(holder, ATTRIBUTE)), None)


def setting_of(value: Any, request: Any) -> Any:
    """A setting that is a constant, or a function of the request."""
    return value(request) if callable(value) else value
