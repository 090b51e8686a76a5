"""The background thread: faults of callbacks and disks, and its end."""

import asyncio
import json
import logging
import os
import signal
import ssl
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, List

import httpx
import pytest
from audit_server import AuditServer
from conftest import Warned, event

from audit_client import AsyncClient, Client, ClientClosed, NetworkError, NotSent, QueueFull, Result, RetryPolicy, Spool
from audit_client._buffer import Entry
from audit_client.spool import SpoolBuffer

NOWHERE = "http://127.0.0.1:9"
QUICK = RetryPolicy(backoff_seconds=0.001, backoff_seconds_max=0.01)


def test_a_callback_that_fails_does_not_stop_the_thread(server: AuditServer, tenant: str, caplog: pytest.LogCaptureFixture) -> None:
    def fail(result: Result) -> None:
        raise ZeroDivisionError

    with Client(server.base_url, server.project_key, on_result=fail) as audit:
        audit.record(event(tenant))
        assert audit.flush()
        audit.record(event(tenant))
        assert audit.flush()
    assert audit.stats().stored == 2
    assert "on_result raised an error" in caplog.text


def test_errors_that_nobody_listens_to_are_logged(server: AuditServer, tenant: str, caplog: pytest.LogCaptureFixture) -> None:
    with Client(server.base_url, server.project_key) as audit:
        for _ in range(3):
            audit.record(event(tenant, occurred_at="nonsense"))
    assert audit.stats().failed == 3
    assert "3 events were not stored: 400 validation_error" in caplog.text


def test_a_disk_that_fails_once_ends_no_recording(
    server: AuditServer, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    peek, has_failed = SpoolBuffer.peek, threading.Event()

    def fail_once(self: SpoolBuffer) -> object:
        if not has_failed.is_set():
            has_failed.set()
            raise OSError(5, "Input/output error")
        return peek(self)

    monkeypatch.setattr(SpoolBuffer, "peek", fail_once)
    with Client(server.base_url, server.project_key, spool=Spool(tmp_path)) as audit:
        audit.record(event(tenant))
        assert not audit.flush()
        audit.record(event(tenant))
        assert audit.flush()
        assert len(list(audit.events.query(tenant_id=tenant))) == 2
    assert "Input/output error" in caplog.text


def test_events_that_cannot_be_read_any_more_are_not_asked_for_again_and_again(
    server: AuditServer, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that lost them, for example. The thread waits, as after a failed send."""
    peeks: List[object] = []

    def peek(self: SpoolBuffer) -> List[Entry]:
        peeks.append(self)
        return []

    monkeypatch.setattr(SpoolBuffer, "peek", peek)
    retry = RetryPolicy(backoff_seconds=3600, backoff_seconds_max=3600)
    warned = Warned()
    logging.getLogger("audit_client").addHandler(warned)
    with Client(server.base_url, server.project_key, spool=Spool(tmp_path), retry=retry, batch_events=1) as audit:
        audit.record(event(tenant))
        assert warned.event.wait(60)
        assert "1 events wait" in warned.message and "cannot be read" in warned.message
        assert len(peeks) == 1
        monkeypatch.undo()
        assert audit.flush()
        assert len(list(audit.events.query(tenant_id=tenant))) == 1
    logging.getLogger("audit_client").removeHandler(warned)


def test_nothing_is_recorded_after_close(tenant: str) -> None:
    audit = Client(NOWHERE, "pk_live_x")
    assert audit.close() and audit.close()
    with pytest.raises(ClientClosed):
        audit.record(event(tenant))


def test_a_service_that_is_away_at_first_costs_no_event(server: AuditServer, tenant: str) -> None:
    """Without a spool: more than three attempts fail, and the queue keeps what it has."""
    attempts = threading.Semaphore(0)
    is_away = threading.Event()
    is_away.set()
    direct = httpx.HTTPTransport()

    def respond(request: httpx.Request) -> httpx.Response:
        if is_away.is_set():
            attempts.release()
            raise httpx.ConnectError("connection refused")
        return direct.handle_request(request)

    options = {"transport": httpx.MockTransport(respond)}
    results: List[Result] = []
    with Client(server.base_url, server.project_key, retry=QUICK, on_result=results.append, http_options=options) as audit:
        for number in range(25):
            audit.record(event(tenant, metadata={"n": number}))
        for _ in range(7):
            assert attempts.acquire(timeout=60)
        assert not audit.flush(0)
        assert audit.stats().pending == 25 and results == []
        is_away.clear()
        assert audit.flush()
        assert [result.event["metadata"]["n"] for result in results] == list(range(25))
        assert len(list(audit.events.query(tenant_id=tenant))) == 25
    direct.close()


def test_what_is_left_at_the_end_is_reported_with_the_event(tenant: str, caplog: pytest.LogCaptureFixture) -> None:
    results: List[Result] = []
    audit = Client(NOWHERE, "pk_live_x", retry=QUICK, on_result=results.append)
    audit.record(event(tenant, metadata={"n": 7}))
    assert not audit.flush(0.01)
    assert not audit.close(0)
    assert [(type(result.error), result.event["metadata"]["n"]) for result in results] == [(NotSent, 7)]
    assert audit.stats().failed == 1 and audit.stats().pending == 0
    unheard = Client(NOWHERE, "pk_live_x", retry=QUICK)
    unheard.record(event(tenant))
    unheard.close(0)
    assert "1 events were not stored: the client was closed" in caplog.text


def test_the_spool_is_a_path_and_keeps_events_while_the_key_is_refused(server: AuditServer, tenant: str, tmp_path: Path) -> None:
    with Client(server.base_url, "pk_live_x", retry=QUICK, spool=str(tmp_path)) as audit:
        audit.record(event(tenant))
        assert not audit.flush(1)
    assert audit.stats().pending == 1
    with Client(server.base_url, server.project_key, spool=tmp_path) as audit:
        assert audit.flush()
        assert audit.stats().stored == 1


def test_close_with_a_spool_does_not_wait_for_a_server_that_is_away(tmp_path: Path, tenant: str) -> None:
    audit = Client(NOWHERE, "pk_live_x", spool=Spool(tmp_path), retry=QUICK)
    audit.record(event(tenant))
    # Without a deadline: it would wait forever.
    assert not audit.close(None)
    assert audit.stats().pending == 1


def test_a_blocked_thread_gives_up_and_is_told_of_a_close(tenant: str) -> None:
    answered = threading.Event()

    def hold(request: httpx.Request) -> httpx.Response:
        answered.wait(60)
        raise httpx.ReadError("reset")

    options = {"transport": httpx.MockTransport(hold)}
    audit = Client(NOWHERE, "pk_live_x", queue_events_max=10, overflow="block", block_seconds_max=0.05, http_options=options)
    for _ in range(10):
        audit.record(event(tenant))
    with pytest.raises(QueueFull):
        audit.record(event(tenant))
    assert audit.stats().dropped == 1
    audit.close(0)
    with pytest.raises(ClientClosed):
        audit.record(event(tenant))
    answered.set()


def test_a_response_without_end_and_one_that_is_too_slow_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """httpx limits the time of each read only, and no size."""
    monkeypatch.setattr("audit_client._transport.RESPONSE_BYTES_MAX", 1000)
    endless = httpx.MockTransport(lambda request: httpx.Response(200, content=b" " * 1001))
    with Client(NOWHERE, "pk_live_x", retry=QUICK, http_options={"transport": endless}) as audit:
        with pytest.raises(NetworkError, match="more than 1000 bytes"):
            audit.events.page()
        lines = audit.events.export_csv()
        monkeypatch.setattr("audit_client._transport.LINE_BYTES_MAX", 1000)
        with pytest.raises(NetworkError, match="line of more than 1000 bytes"):
            next(lines)
    slow = httpx.MockTransport(lambda request: httpx.Response(200, content=b" "))
    with Client(NOWHERE, "pk_live_x", retry=QUICK, timeout_seconds=1e-9, http_options={"transport": slow}) as audit:
        with pytest.raises(NetworkError, match="longer than the timeout"):
            audit.events.page()


def test_requests_that_do_harm_when_executed_twice_are_not_repeated() -> None:
    requests: List[httpx.Request] = []

    def lose(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        raise httpx.ReadError("reset")

    with Client(NOWHERE, "mk_x", retry=QUICK, http_options={"transport": httpx.MockTransport(lose)}) as master:
        with pytest.raises(NetworkError):
            master.projects.create("billing")
        assert len(requests) == 1
        with pytest.raises(NetworkError):
            master.projects.list()
        assert len(requests) == 4


def test_a_thread_that_cannot_be_started_is_started_later(
    server: AuditServer, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with Client(server.base_url, server.project_key) as audit:
        monkeypatch.setattr(threading.Thread, "start", fail)
        with pytest.raises(RuntimeError):
            audit.record(event(tenant))
        monkeypatch.undo()
        assert audit.flush()
        assert audit.stats().stored == 1


def test_waiting_calls_of_asyncio_leave_the_threads_of_the_loop_alone_and_end_with_the_client(tenant: str) -> None:
    released = threading.Event()

    def hold(request: httpx.Request) -> httpx.Response:
        released.wait(60)
        raise httpx.ReadError("reset")

    async def run() -> None:
        options = {"transport": httpx.MockTransport(hold)}
        audit = AsyncClient(NOWHERE, "pk_live_x", queue_events_max=10, http_options=options)
        # More than the pool of the event loop has threads.
        calls = [asyncio.create_task(audit.record(event(tenant))) for _ in range(100)]
        assert await asyncio.wait_for(asyncio.to_thread(lambda: True), 60)
        assert not await audit.close(0)
        results = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 60)
        assert [result for result in results if result is True] == [True] * 10
        assert all(isinstance(result, ClientClosed) for result in results[10:])

    asyncio.run(run())
    released.set()


def test_no_thread_of_the_client_makes_a_tls_context(server: AuditServer, tenant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenSSL takes locks for it. The child of a fork at this moment would wait for them for ever."""
    make, made = ssl.create_default_context, []

    def noting(*arguments: Any, **named: Any) -> ssl.SSLContext:
        made.append(threading.current_thread())
        return make(*arguments, **named)

    monkeypatch.setattr(ssl, "create_default_context", noting)

    async def use() -> None:
        async with AsyncClient(server.base_url, server.project_key) as audit:
            await audit.record(event(tenant))
            assert await audit.flush()

    with Client(server.base_url, server.project_key) as audit:
        audit.record(event(tenant))
        assert audit.flush()
    asyncio.run(use())
    assert made == [threading.main_thread()] * 2


IMPORTS = """
import json, sys
from audit_client import Client
audit = Client(*sys.argv[1:3])
before = set(sys.modules)
audit.record(json.loads(sys.argv[3]))
assert audit.close()
print(sorted(set(sys.modules) - before))
"""


def test_no_thread_of_the_client_imports_a_module(server: AuditServer, tenant: str) -> None:
    """Each module has a lock while it is imported, which is held in the child of a fork at this moment for ever."""
    arguments = [server.base_url, server.project_key, json.dumps(event(tenant))]
    assert subprocess.check_output([sys.executable, "-c", IMPORTS, *arguments], text=True) == "[]\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_call_that_waits_for_room_does_so_in_a_forked_child_too(tenant: str) -> None:
    """The thread in which it waits is one of the parent."""
    audit = AsyncClient(NOWHERE, "pk_live_x", batch_events=1, queue_events_max=1, block_seconds_max=0.01, retry=QUICK)

    async def fill() -> None:
        await audit.record(event(tenant))
        with pytest.raises(QueueFull):
            await audit.record(event(tenant))

    asyncio.run(fill())
    child = os.fork()
    if child == 0:
        # The default action ends a child that hangs.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)
        code = 1
        try:
            asyncio.run(fill())
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    asyncio.run(audit.close(0))
