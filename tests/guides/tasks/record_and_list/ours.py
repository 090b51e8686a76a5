# Record who deletes an invoice of which customer, and show the customer its events. The headers stand for a sign-in.
import os
from audit_client import Client, audited
from audit_client.asgi import AuditMiddleware
from fastapi import FastAPI, Request

audit = Client(os.environ["AUDIT_URL"], os.environ["AUDIT_KEY"])
app = FastAPI()
app.add_middleware(
    AuditMiddleware,
    client=audit,
    actor=lambda scope: {"id": Request(scope).headers["X-User"], "type": "user"},
    tenant=lambda scope: Request(scope).headers["X-Customer"],
)


@app.delete("/invoices/{invoice}")
@audited("invoice.deleted", "mutation", target=lambda path: {"type": "invoice", "id": path["invoice"]})
def delete_invoice(invoice: str):
    return {"deleted": invoice}


@app.get("/history")
def history(request: Request):
    return list(audit.events.query(tenant_id=request.headers["X-Customer"]))
