"""Middleware for ASGI: Starlette, FastAPI, and every framework that sets ``scope["endpoint"]``.

::

    app.add_middleware(AuditMiddleware, client=audit, tenant=lambda scope: scope["state"]["tenant"], actor=...)

The event is recorded before the response is sent: whoever sees the response finds its event in the queue, or in the spool. If the
server cancels the task of a request, its event is recorded then, without a status.
"""

import asyncio
import inspect
import time
from typing import Any, Awaitable, Callable, Dict, MutableMapping, Optional, Set, Union

from ._client import AsyncClient, Client
from .annotations import (
    ATTRIBUTE,
    CURRENT,
    UNKNOWN,
    Annotation,
    Handled,
    OnFailure,
    context_from,
    event_of,
    needs_event,
    report,
    setting_of,
)
from .types import Actor, Context

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
OfScope = Callable[[Scope], Any]


def context_of(scope: Scope) -> Context:
    """Address and user agent of the client. Behind a proxy the address is the proxy's, unless the server replaces it."""
    client = scope.get("client")
    return context_from(str(client[0]) if client else None, header_of(scope, b"user-agent"))


def header_of(scope: Scope, name: bytes) -> Optional[str]:
    return next((value.decode("latin-1") for header, value in scope.get("headers", []) if header.lower() == name), None)


class AuditMiddleware:
    """Records the requests of handlers that have :func:`audit_client.audited`.

    ``tenant`` and ``actor`` are the tenant's id and the actor, or functions that get the scope when the handler is done and return
    them, or ``None``; they may be coroutines. Without an actor the event has the actor ``anonymous``. With
    ``on_failure="raise"`` a request whose event cannot be recorded fails with this error; otherwise it is logged by
    ``audit_client``.
    """

    def __init__(
        self,
        app: App,
        *,
        client: Union[Client, AsyncClient],
        tenant: Union[str, OfScope],
        actor: Union[Actor, OfScope, None] = None,
        context: Callable[[Scope], Context] = context_of,
        on_failure: OnFailure = "log",
    ) -> None:
        self.app = app
        self.client = client
        self.tenant = tenant
        self.actor = actor
        self.context = context
        self.on_failure = on_failure
        #: The event loop itself does not keep its tasks.
        self.recording: Set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # As Starlette's requests do, so that `tenant` and `actor` see what the handler writes to `request.state`.
        scope.setdefault("state", {})
        fields: Dict[str, Any] = {}
        began = time.monotonic()
        is_recorded = False

        async def send_recorded(message: Message) -> None:
            nonlocal is_recorded
            if message["type"] == "http.response.start" and not is_recorded:
                is_recorded = True
                await asyncio.shield(self.start_recording(scope, fields, message["status"], began))
            await send(message)

        token = CURRENT.set(fields)
        try:
            await self.app(scope, receive, send_recorded)
        except Exception:
            if not is_recorded:
                await asyncio.shield(self.start_recording(scope, fields, 500, began))
            raise
        except asyncio.CancelledError:
            if not is_recorded:
                # Not `shield`: its error would take the place of the cancellation.
                await asyncio.wait([self.start_recording(scope, fields, None, began)])
            raise
        finally:
            CURRENT.reset(token)

    def start_recording(self, scope: Scope, fields: Dict[str, Any], status: Optional[int], began: float) -> "asyncio.Task[None]":
        """Records in a task of its own: that of the request may be cancelled before the event is recorded."""
        task = asyncio.ensure_future(self.record(scope, fields, status, began))
        self.recording.add(task)
        task.add_done_callback(self.recording.discard)
        return task

    async def record(self, scope: Scope, fields: Dict[str, Any], status: Optional[int], began: float) -> None:
        annotation: Optional[Annotation] = getattr(scope.get("endpoint"), ATTRIBUTE, None)
        try:
            handled = Handled(
                annotation,
                fields,
                scope["method"],
                getattr(scope.get("route"), "path", None),
                status,
                began,
                scope.get("path_params", {}),
                lambda: self.context(scope),
                header_of(scope, b"x-request-id"),
                self.on_failure,
                self.client,
            )
            if not needs_event(handled):
                return
            tenant = None if "tenant_id" in fields else await value_of(setting_of(self.tenant, scope))
            event = event_of(handled, await self.actor_of(scope), tenant)
            if isinstance(self.client, AsyncClient):
                await self.client.record(event)
            else:
                await asyncio.to_thread(self.client.record, event)
        except Exception as error:
            report(error, self.on_failure, self.client)

    async def actor_of(self, scope: Scope) -> Optional[Actor]:
        try:
            actor: Optional[Actor] = await value_of(setting_of(self.actor, scope))
            return actor
        except Exception as error:
            report(error, self.on_failure, self.client)
            return UNKNOWN


async def value_of(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
