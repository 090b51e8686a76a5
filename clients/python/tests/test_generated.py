"""What is generated is up to date, and both clients offer the same."""

import inspect
import subprocess
import sys
from pathlib import Path

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
