"""What is generated is up to date, both clients offer the same, and they offer every route of the server."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator, Set, Tuple

import httpx
from audit_server import AuditServer

from audit_client import AsyncClient, Client

ROOT = Path(__file__).parents[1]


def test_the_resources_for_threads_are_up_to_date() -> None:
    subprocess.run([sys.executable, str(ROOT / "tools" / "unasync.py"), "--check"], check=True)


def test_both_clients_have_the_same_resources_and_methods() -> None:
    threads = Client("http://example.com", "pk_live_x")
    asyncio = AsyncClient("http://example.com", "pk_live_x")
    offered = {name for name in vars(threads) if not name.startswith("_")}
    assert offered == {name for name in vars(asyncio) if not name.startswith("_")}
    for name in offered - {"claim_token"}:
        methods = [
            {method: str(inspect.signature(call).parameters) for method, call in inspect.getmembers(resource, inspect.ismethod)}
            for resource in (getattr(threads, name), getattr(asyncio, name))
        ]
        assert methods[0].keys() == methods[1].keys()
        for method in methods[0].keys() - {"__init__"}:
            assert methods[0][method] == methods[1][method], f"{name}.{method}"
    for method in ("record", "flush", "close", "stats"):
        assert str(inspect.signature(getattr(Client, method)).parameters) == str(
            inspect.signature(getattr(AsyncClient, method)).parameters
        )


#: Routes that are no part of an application's work: for operators, and for programs that generate code.
NOT_OFFERED = {("GET", path) for path in ("/openapi.json", "/docs", "/docs/scalar.js", "/healthz", "/readyz", "/metrics")}
#: The path of these is an argument of the constructor.
INGEST = {("POST", "/events"), ("POST", "/streams/{}/events")}


def routes_of_server(base_url: str) -> Set[Tuple[str, str]]:
    """Methods and paths after `/api/v1` of the OpenAPI document, with `{}` for each parameter."""
    paths = httpx.get(base_url + "/api/v1/openapi.json").json()["paths"]
    methods = {"get", "post", "put", "patch", "delete"}
    return {
        (method.upper(), re.sub(r"\{[^}]*\}", "{}", path.replace("/api/v1", "", 1)))
        for path, operations in paths.items()
        for method in methods & set(operations)
    }


def text_of(node: ast.expr) -> str:
    """A literal string, or a formatted one with `{}` for each value."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    assert isinstance(node, ast.JoinedStr), ast.dump(node)
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


def calls_of_client() -> Iterator[Tuple[str, str]]:
    """The methods and paths of all requests in the source of the resources."""
    for source in (ROOT / "src" / "audit_client" / "_async").glob("*.py"):
        for function in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.AsyncFunctionDef):
                continue
            # A path in a variable is assigned in the same method.
            names = {
                target.id: node.value
                for node in ast.walk(function)
                if isinstance(node, ast.Assign)
                for target in node.targets
                if isinstance(target, ast.Name)
            }
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "call":
                    path = node.args[1]
                    yield text_of(node.args[0]), text_of(names[path.id] if isinstance(path, ast.Name) else path)


def test_the_client_offers_every_route_of_the_server(server: AuditServer) -> None:
    offered = set(calls_of_client()) | INGEST
    routes = routes_of_server(server.base_url) - NOT_OFFERED
    # The document lists the tiles by the parts of their path.
    routes = {route for route in routes if not route[1].startswith("/log/tile/")} | {("GET", "/log/tile/{}")}
    assert routes - offered == set()
    assert offered - routes == set()
