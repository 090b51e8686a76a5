# The same with a table of one's own.
import json
import os
import sqlite3
import time

from fastapi import FastAPI, Request

events = sqlite3.connect(os.environ["EVENTS"], check_same_thread=False)
events.execute(
    "CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, action TEXT NOT NULL, tenant_id TEXT NOT NULL, actor_id TEXT NOT NULL,"
    " target_type TEXT, target_id TEXT, context TEXT NOT NULL, occurred_at REAL NOT NULL)"
)
events.execute("CREATE INDEX IF NOT EXISTS events_by_tenant ON events (tenant_id, id)")
app = FastAPI()


def record(request: Request, action: str, target_type: str, target_id: str):
    context = json.dumps({"ip_address": request.client.host, "user_agent": request.headers.get("User-Agent")})
    event = (action, request.headers["X-Customer"], request.headers["X-User"], target_type, target_id, context, time.time())
    with events:
        names = "action, tenant_id, actor_id, target_type, target_id, context, occurred_at"
        events.execute(f"INSERT INTO events ({names}) VALUES (?, ?, ?, ?, ?, ?, ?)", event)


@app.delete("/invoices/{invoice}")
def delete_invoice(request: Request, invoice: str):
    record(request, "invoice.deleted", "invoice", invoice)
    return {"deleted": invoice}


@app.get("/history")
def history(request: Request):
    rows = events.execute(
        "SELECT action, actor_id, target_id, context, occurred_at FROM events WHERE tenant_id = ? ORDER BY id DESC LIMIT 50",
        [request.headers["X-Customer"]],
    )
    return [{"action": row[0], "actor": {"id": row[1]}, "target": {"id": row[2]}, "context": json.loads(row[3]), "occurred_at": row[4]} for row in rows]
