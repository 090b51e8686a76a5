"""The two tasks of docs/integrate.md: with this service and with a table they run, and the document has their lines of code."""

import asyncio
import re
import runpy
from pathlib import Path
from typing import Any

import httpx
import pytest
from audit_server import AuditServer

ROOT = Path(__file__).parents[3]
TASKS = ROOT / "tests" / "guides" / "tasks"
HEADERS = {"X-User": "user_7", "X-Customer": "acme"}


async def call(app: Any, method: str, path: str) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://shop", headers=HEADERS) as http:
        return await http.request(method, path)


@pytest.mark.parametrize("way", ["ours", "table"])
def test_the_tasks_run(own_server: AuditServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    settings = {"AUDIT_URL": own_server.base_url, "AUDIT_KEY": own_server.project_key, "AUDIT_MASTER_KEY": own_server.master_key}
    settings.update(AUDIT_PROJECT_ID=own_server.project_id, EVENTS=str(tmp_path / "first"), PAGER_URL="https://pager.example")
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    task = runpy.run_path(str(TASKS / "record_and_list" / f"{way}.py"))
    assert asyncio.run(call(task["app"], "DELETE", "/invoices/42")).json() == {"deleted": "42"}
    assert way == "table" or task["audit"].flush()
    (event,) = asyncio.run(call(task["app"], "GET", "/history")).json()
    assert (event["action"], event["actor"]["id"], event["target"]["id"]) == ("invoice.deleted", "user_7", "42")
    monkeypatch.setenv("EVENTS", str(tmp_path / "second"))
    task, pages = runpy.run_path(str(TASKS / "page_and_alert" / f"{way}.py")), []
    monkeypatch.setattr("httpx.post", lambda url, json: pages.append(json))
    assert {asyncio.run(call(task["app"], "POST", "/login")).status_code for _ in range(5)} == {401}
    page = asyncio.run(call(task["app"], "GET", "/audit-log"))
    if way == "table":
        assert page.text.count("auth.failed") == 5
        assert pages == [{"actor": "user_7", "failures": 5}]
        return
    assert "/portal#token=vt_" in page.headers["location"]
    assert task["alert_at"]("https://pager.example/audit")["enabled"]
    assert task["audit"].flush()
    assert [alert["rule_id"] for alert in task["audit"].alerts.list()] == ["auth_brute_force"]


def test_the_document_has_their_lines_of_code() -> None:
    text = (ROOT / "docs" / "integrate.md").read_text(encoding="utf-8")
    for task in ("record_and_list", "page_and_alert"):
        files = [(TASKS / task / name).read_text(encoding="utf-8") for name in ("ours.py", "workos.mjs", "table.py")]
        counts = [str(len(re.findall(r"(?m)^[ ]*(?!#|//)[^ \n]", file))) for file in files]
        assert f"{task}/) | {' | '.join(counts)} |" in text
