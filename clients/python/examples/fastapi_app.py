"""An application that records who deletes invoices, and shows a customer its own events.

    AUDIT_URL=http://127.0.0.1:8080 AUDIT_KEY=pk_live_… uvicorn fastapi_app:app
    curl -X DELETE localhost:8000/invoices/42 -H 'X-User: jane' -H 'X-Customer: acme'
    curl localhost:8000/history -H 'X-Customer: acme'

The headers stand for a real sign-in. The events wait in the directory `audit-spool` while the service cannot be reached.
"""

import os
from contextlib import asynccontextmanager
from typing import AsyncIterator, Dict, List

from fastapi import Depends, FastAPI, Request

from audit_client import AsyncClient, Event, Spool, annotate, audited
from audit_client.asgi import AuditMiddleware

audit = AsyncClient(os.environ["AUDIT_URL"], os.environ["AUDIT_KEY"], spool=Spool(os.environ.get("AUDIT_SPOOL", "audit-spool")))
invoices = {"42": {"total": 1200}, "43": {"total": 80}}


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    yield
    await audit.close()


def sign_in(request: Request) -> None:
    request.state.actor = {"id": request.headers["X-User"], "type": "user"} if "X-User" in request.headers else None
    request.state.customer = request.headers.get("X-Customer")


app = FastAPI(lifespan=lifespan, dependencies=[Depends(sign_in)])
app.add_middleware(
    AuditMiddleware,
    client=audit,
    actor=lambda scope: scope["state"]["actor"],
    tenant=lambda scope: scope["state"]["customer"],
)


@app.delete("/invoices/{invoice_id}")
@audited("invoice.deleted", "mutation", target=lambda path: {"type": "invoice", "id": path["invoice_id"]})
def delete_invoice(invoice_id: str) -> Dict[str, str]:
    invoice = invoices.pop(invoice_id)
    annotate(changes=[{"field": "total", "before": invoice["total"]}])
    return {"deleted": invoice_id}


@app.get("/history")
async def history(request: Request) -> List[Event]:
    return [event async for event in audit.events.query(tenant_id=request.state.customer)]
