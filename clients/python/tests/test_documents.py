"""The README's example, the examples and the reference are true; the package can be published."""

import asyncio
import importlib
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, List

import httpx
import pytest
from audit_server import AuditServer
from conftest import event

from audit_client import Client

ROOT = Path(__file__).parents[1]


def environment(server: AuditServer, key: str = "") -> "dict[str, str]":
    return {**os.environ, "AUDIT_URL": server.base_url, "AUDIT_KEY": key or server.project_key}


def test_the_example_of_the_readme_runs_as_written(own_server: AuditServer, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    match = re.search(r"```python\n(.*?)```\n\nIt prints\n\n```text\n(.*?)```", readme, re.DOTALL)
    assert match is not None
    printed = subprocess.check_output([sys.executable, "-c", match[1]], env=environment(own_server), cwd=tmp_path, text=True)
    assert printed == match[2]


def test_every_python_block_of_the_readme_compiles() -> None:
    blocks: List[str] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 6
    for block in blocks:
        compile(block, "README.md", "exec")


def test_the_reference_is_up_to_date() -> None:
    subprocess.run([sys.executable, str(ROOT / "tools" / "reference.py"), "--check"], check=True)


def test_an_event_of_a_process_that_ends_without_close_is_sent(server: AuditServer, audit: Client, tenant: str) -> None:
    text = f"""
import os
from audit_client import Client
audit = Client(os.environ["AUDIT_URL"], os.environ["AUDIT_KEY"])
audit.record({dict(event(tenant))!r})
"""
    subprocess.run([sys.executable, "-c", text], env=environment(server), check=True)
    assert len(list(audit.events.query(tenant_id=tenant))) == 1


def test_follow_feed(own_server: AuditServer, tmp_path: Path) -> None:
    output = tmp_path / "events.jsonl"
    command = [sys.executable, str(ROOT / "examples" / "follow_feed.py"), str(output), "--once"]
    with Client(own_server.base_url, own_server.project_key) as audit:
        for count in (3, 4):
            audit.events.ingest([event("acme") for _ in range(count)])
            subprocess.run(command, env=environment(own_server), check=True)
            # As if it had been killed between the events and the cursor.
            with output.open("a") as file:
                file.write('{"id": "evt_torn"')
        subprocess.run(command, env=environment(own_server), check=True)
        ids = [json.loads(line)["id"] for line in output.read_text().splitlines()]
        assert sorted(ids) == sorted(one["id"] for one in audit.events.query(tenant_id="acme"))


def test_verify_tenant(own_server: AuditServer) -> None:
    with Client(own_server.base_url, own_server.project_key) as audit:
        audit.events.ingest([event("acme", metadata={"n": number}) for number in range(5)])
        token = audit.viewer_tokens.create("acme")["token"]
    command = [sys.executable, str(ROOT / "examples" / "verify_tenant.py")]
    key = own_server.run("log", "key").strip()
    printed = subprocess.check_output([*command, key], env=environment(own_server, token), text=True)
    assert printed.startswith("5 events are as they were stored")
    name, _, public = key.split("+", 2)
    other = name + "+00000000+" + public
    refused = subprocess.run([*command, other], env=environment(own_server, token), stderr=subprocess.PIPE, text=True)
    assert refused.returncode == 1 and refused.stderr.startswith("REFUSED: ")


def test_fastapi_app(own_server: AuditServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_URL", own_server.base_url)
    monkeypatch.setenv("AUDIT_KEY", own_server.project_key)
    monkeypatch.setenv("AUDIT_SPOOL", str(tmp_path / "spool"))
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    shop: Any = importlib.import_module("fastapi_app")

    async def use() -> List[Any]:
        transport = httpx.ASGITransport(app=shop.app)
        async with shop.app.router.lifespan_context(shop.app):
            async with httpx.AsyncClient(transport=transport, base_url="http://shop", headers={"X-Customer": "acme"}) as browser:
                assert (await browser.delete("/invoices/42", headers={"X-User": "jane"})).status_code == 200
                assert await shop.audit.flush()
                history: List[Any] = (await browser.get("/history")).json()
                return history

    (deleted,) = asyncio.run(use())
    assert deleted["action"] == "invoice.deleted" and deleted["actor"]["id"] == "jane"
    assert deleted["changes"] == [{"field": "total", "before": 1200}]


def test_the_package_has_its_types_and_licences(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    assert [path.suffix for path in sorted(tmp_path.iterdir())] == [".whl", ".gz"]
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "audit_client/py.typed" in names and "audit_client/_sync/events.py" in names
    assert sum("LICENSE-" in name for name in names) == 2
    metadata = zipfile.ZipFile(wheel).read(next(name for name in names if name.endswith("/METADATA"))).decode()
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert required == ["Requires-Dist: httpx<1,>=0.25"]


@pytest.mark.parametrize("document", ["README.md", "docs/reference.md", "../README.md", "../conformance/README.md"])
def test_the_links_of_a_document_lead_somewhere(document: str) -> None:
    path = (ROOT / document).resolve()
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        assert link.startswith("https://") or (path.parent / link).exists(), link
