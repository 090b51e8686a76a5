"""Who did what, from the annotation of a request handler. The middleware for ASGI and for Django share it.

::

    @app.delete("/invoices/{invoice_id}")
    @audited("invoice.deleted", "mutation", target=lambda path: {"type": "invoice", "id": path["invoice_id"]})
    def delete_invoice(invoice_id: str) -> None:
        invoice = ...
        annotate(changes=[{"field": "total", "before": invoice.total}])
"""

import logging
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, TypeVar, cast

from .types import Actor, Category, Change, Context, EventInput, Target

LOGGER = logging.getLogger("audit_client")
ATTRIBUTE = "__audit__"
#: The actor of a request that nobody has signed in for.
ANONYMOUS: Actor = {"id": "anonymous", "type": "user"}
#: From this status on, a request has failed.
FAILED_STATUS = 400

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
    metadata: Optional[Mapping[str, Any]] = None,
    changes: Optional[List[Change]] = None,
    idempotency_key: Optional[str] = None,
) -> None:
    """Adds to the event of the present request. ``metadata`` is merged; everything else replaces what was there."""
    fields = CURRENT.get()
    if fields is None:
        raise RuntimeError("annotate() needs the middleware of audit_client, and a request that is being handled")
    given = {
        "action": action,
        "category": category,
        "tenant_id": tenant_id,
        "actor": actor,
        "target": target,
        "changes": changes,
        "idempotency_key": idempotency_key,
    }
    fields.update({name: value for name, value in given.items() if value is not None})
    fields["metadata"] = {**fields.get("metadata", {}), **(metadata or {})}


@dataclass
class Handled:
    """A request that was handled, as its framework describes it."""

    annotation: Optional[Annotation]
    #: What :func:`annotate` added.
    fields: Dict[str, Any]
    status: int
    path: Mapping[str, Any]
    context: Context


def needs_event(handled: Handled) -> bool:
    """Whether the request is to be recorded."""
    if handled.status >= FAILED_STATUS:
        return handled.annotation is not None and handled.annotation.failed_action is not None
    return handled.annotation is not None or "action" in handled.fields


def event_of(handled: Handled, actor: Optional[Actor], tenant_id: Optional[str]) -> EventInput:
    """The event of a request for which :func:`needs_event` holds."""
    event: Dict[str, Any] = {"actor": actor or ANONYMOUS, "tenant_id": tenant_id}
    annotation = handled.annotation
    if annotation is not None:
        event["action"], event["category"] = annotation.action, annotation.category
        if annotation.target is not None:
            event["target"] = annotation.target(handled.path)
    if handled.context:
        event["context"] = handled.context
    event.update(handled.fields)
    if handled.status >= FAILED_STATUS and annotation is not None:
        event["action"] = annotation.failed_action
    event["metadata"] = {"http_status": handled.status, **event.get("metadata", {})}
    if not event["tenant_id"]:
        raise ValueError(f"no tenant is known for {event['action']}; the tenant callable returned none")
    if "category" not in event:
        raise ValueError(f"no category is known for {event['action']}")
    return cast(EventInput, event)
