# The same with a table of one's own. The alert is a plain POST, without signature and without repeats.
import html
import os
import sqlite3
import time

import httpx
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response

WINDOW_SECONDS, FAILURES = 300, 5
events = sqlite3.connect(os.environ["EVENTS"], check_same_thread=False)
events.execute(
    "CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, action TEXT NOT NULL, tenant_id TEXT NOT NULL, actor_id TEXT NOT NULL,"
    " ip_address TEXT NOT NULL, occurred_at REAL NOT NULL)"
)
events.execute("CREATE INDEX IF NOT EXISTS events_by_tenant ON events (tenant_id, id)")
app = FastAPI()


def record(request: Request, action: str):
    user, customer, now = request.headers["X-User"], request.headers["X-Customer"], time.time()
    with events:
        event = (action, customer, user, request.client.host, now)
        events.execute("INSERT INTO events (action, tenant_id, actor_id, ip_address, occurred_at) VALUES (?, ?, ?, ?, ?)", event)
    if action == "auth.failed":
        (failures,) = events.execute(
            "SELECT count(*) FROM events WHERE tenant_id = ? AND actor_id = ? AND action = 'auth.failed' AND occurred_at > ?",
            [customer, user, now - WINDOW_SECONDS],
        ).fetchone()
        if failures == FAILURES:
            httpx.post(os.environ["PAGER_URL"], json={"actor": user, "failures": failures})


@app.post("/login")
def login(request: Request):
    is_right = request.headers.get("X-Password") == "right"
    record(request, "auth.succeeded" if is_right else "auth.failed")
    return Response(status_code=204 if is_right else 401)


@app.get("/audit-log")
def page(request: Request, before: int = 2**62):
    rows = events.execute(
        "SELECT id, action, actor_id, ip_address, occurred_at FROM events WHERE tenant_id = ? AND id < ? ORDER BY id DESC LIMIT 50",
        [request.headers["X-Customer"], before],
    ).fetchall()
    cells = ("".join(f"<td>{html.escape(str(value))}</td>" for value in row[1:]) for row in rows)
    older = f'<a href="?before={rows[-1][0]}">older</a>' if rows else ""
    return HTMLResponse(f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>{older}")
