"""Middleware for ASGI: Starlette, FastAPI, and every framework that sets ``scope["endpoint"]``.

::

    app.add_middleware(AuditMiddleware, client=audit, tenant=lambda scope: scope["state"]["tenant"], actor=...)

The event is recorded before the response is sent: whoever sees the response finds its event in the queue, or in the spool.
"""

import asyncio
import inspect
from typing import Any, Awaitable, Callable, Dict, Literal, MutableMapping, Optional, Union

from ._client import AsyncClient, Client
from .annotations import ATTRIBUTE, CURRENT, LOGGER, Annotation, Handled, event_of, needs_event
from .types import Actor, Context

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
OfScope = Callable[[Scope], Any]


def context_of(scope: Scope) -> Context:
    """Address and user agent of the client. Behind a proxy the address is the proxy's, unless the server replaces it."""
    context: Context = {}
    if scope.get("client"):
        context["ip_address"] = str(scope["client"][0])
    for name, value in scope.get("headers", []):
        if name.lower() == b"user-agent":
            context["user_agent"] = value.decode("latin-1")[:512]
    return context


def no_actor(_: Scope) -> Optional[Actor]:
    return None


class AuditMiddleware:
    """Records the requests of handlers that have :func:`audit_client.audited`.

    ``tenant`` and ``actor`` get the scope when the handler is done, and return the tenant's id and the actor, or ``None``; they may
    be coroutines. Without an actor the event has the actor ``anonymous``. With ``on_failure="raise"`` a request whose event cannot
    be recorded fails with this error; otherwise it is logged by ``audit_client``.
    """

    def __init__(
        self,
        app: App,
        *,
        client: Union[Client, AsyncClient],
        tenant: OfScope,
        actor: OfScope = no_actor,
        context: Callable[[Scope], Context] = context_of,
        on_failure: Literal["log", "raise"] = "log",
    ) -> None:
        self.app = app
        self.client = client
        self.tenant = tenant
        self.actor = actor
        self.context = context
        self.on_failure = on_failure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # As Starlette's requests do, so that `tenant` and `actor` see what the handler writes to `request.state`.
        scope.setdefault("state", {})
        fields: Dict[str, Any] = {}
        is_recorded = False

        async def send_recorded(message: Message) -> None:
            nonlocal is_recorded
            if message["type"] == "http.response.start" and not is_recorded:
                is_recorded = True
                await self.record(scope, fields, message["status"])
            await send(message)

        token = CURRENT.set(fields)
        try:
            await self.app(scope, receive, send_recorded)
        except Exception:
            if not is_recorded:
                await self.record(scope, fields, 500)
            raise
        finally:
            CURRENT.reset(token)

    async def record(self, scope: Scope, fields: Dict[str, Any], status: int) -> None:
        annotation: Optional[Annotation] = getattr(scope.get("endpoint"), ATTRIBUTE, None)
        try:
            handled = Handled(annotation, fields, status, scope.get("path_params", {}), self.context(scope))
            if not needs_event(handled):
                return
            event = event_of(handled, await value_of(self.actor(scope)), await value_of(self.tenant(scope)))
            if isinstance(self.client, AsyncClient):
                await self.client.record(event)
            else:
                await asyncio.to_thread(self.client.record, event)
        except Exception:
            if self.on_failure == "raise":
                raise
            LOGGER.exception("an event was not recorded")


async def value_of(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
