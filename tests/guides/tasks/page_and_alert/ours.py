# Give an administrator of a customer a page of the customer's events, and alert on many failed sign-ins of one user.
import os
from audit_client import Client, annotate, audited
from audit_client.asgi import AuditMiddleware
from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response

audit = Client(os.environ["AUDIT_URL"], os.environ["AUDIT_KEY"])
app = FastAPI()
app.add_middleware(AuditMiddleware, client=audit, tenant=lambda scope: Request(scope).headers["X-Customer"])


@app.post("/login")
@audited("auth.succeeded", "auth", failed_action="auth.failed")
def login(request: Request):
    annotate(actor={"id": request.headers["X-User"], "type": "user"})
    return Response(status_code=204 if request.headers.get("X-Password") == "right" else 401)


@app.get("/audit-log")
def page(request: Request):
    return RedirectResponse(audit.viewer_tokens.create(request.headers["X-Customer"], portal=True)["portal_url"])


# Once. The rule for auth.failed is on from the start.
def alert_at(url: str):
    with Client(os.environ["AUDIT_URL"], os.environ["AUDIT_MASTER_KEY"], project_id=os.environ["AUDIT_PROJECT_ID"]) as operator:
        return operator.webhooks.create(url=url)
