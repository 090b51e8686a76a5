"""The spool: what survives which accident."""

import binascii
import logging
import os
import random
import threading
from pathlib import Path
from typing import Any, Iterator, List

import pytest
from audit_server import AuditServer
from conftest import Warned, event
from crash import problems, run

from audit_client import Client, QueueFull, Result, RetryPolicy, Spool, SpoolError
from audit_client._buffer import Entry, entry_of
from audit_client._lock import FileLock
from audit_client.spool import SEGMENT_BYTES_MAX, SpoolBuffer, body_of_frame, frame

NOWHERE = "http://127.0.0.1:9"
QUICK = RetryPolicy(backoff_seconds=0.001, backoff_seconds_max=0.01)


def entries(count: int, size: int = 10, start: int = 0) -> List[Entry]:
    return [entry_of({"n": number, "padding": "x" * size}) for number in range(start, start + count)]


def numbers(buffer: SpoolBuffer) -> List[int]:
    """Reads the buffer to its end."""
    found: List[int] = []
    while batch := buffer.peek():
        found += [one.event()["n"] for one in batch]
        buffer.advance(batch)
    return found


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    yield Spool(tmp_path / "spool")


def filled(spool: Spool, made: List[Entry]) -> SpoolBuffer:
    buffer = SpoolBuffer(spool)
    for one in made:
        buffer.append(one)
        buffer.sync(one)
    return buffer


def test_events_survive_their_process_in_order(spool: Spool) -> None:
    filled(spool, entries(250)).close()
    buffer = SpoolBuffer(spool)
    assert buffer.pending() == 250
    batch = buffer.peek()
    assert len(batch) == 100
    buffer.advance(batch)
    buffer.append(entries(1, start=250)[0])
    buffer.close()
    buffer = SpoolBuffer(spool)
    assert numbers(buffer) == list(range(100, 251))
    assert buffer.pending() == 0
    buffer.close()
    buffer = SpoolBuffer(spool)
    assert buffer.pending() == 0 and buffer.peek() == []
    buffer.close()


def test_segments_end_and_are_removed(spool: Spool) -> None:
    count, size = 40, SEGMENT_BYTES_MAX // 15
    buffer = filled(spool, entries(count, size))
    assert len(list((spool.path / "0").glob("*.events"))) == 3
    assert numbers(buffer) == list(range(count))
    assert len(list((spool.path / "0").glob("*.events"))) == 1
    buffer.close()


@pytest.mark.parametrize("cut", [1, 5, 9, 20])
def test_a_line_that_was_not_completed_is_ignored(spool: Spool, cut: int) -> None:
    filled(spool, entries(3)).close()
    (segment,) = (spool.path / "0").glob("*.events")
    segment.write_bytes(segment.read_bytes()[:-cut])
    buffer = SpoolBuffer(spool)
    assert buffer.pending() == 2
    buffer.append(entries(1, start=7)[0])
    assert numbers(buffer) == [0, 1, 7]
    buffer.close()


def test_a_damaged_line_costs_one_event_and_is_logged(spool: Spool, caplog: pytest.LogCaptureFixture) -> None:
    filled(spool, entries(3)).close()
    (segment,) = (spool.path / "0").glob("*.events")
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(lines[0] + lines[1].replace(b"x", b"y") + lines[2])
    buffer = SpoolBuffer(spool)
    assert buffer.pending() == 2
    assert numbers(buffer) == [0, 2]
    assert "damaged" in caplog.text
    buffer.close()


@pytest.mark.parametrize("text", ["", "x", "1", "99 0", "0 0", "1 -5", "1 999999", "\x00\x00"])
def test_a_position_that_cannot_be_read_loses_no_event(spool: Spool, text: str) -> None:
    filled(spool, entries(3)).close()
    (spool.path / "0" / "position").write_text(text)
    buffer = SpoolBuffer(spool)
    assert numbers(buffer) == [0, 1, 2]
    buffer.close()


def test_frames() -> None:
    line = frame(b"{}")
    assert line == b"%08x {}\n" % binascii.crc32(b"{}")
    assert body_of_frame(line) == b"{}"
    for damaged in (b"", b"\n", line[:-1], line[1:], line.replace(b"{", b"["), b"zzzzzzzz {}\n"):
        assert body_of_frame(damaged) is None


def test_processes_share_a_spool(spool: Spool) -> None:
    first = filled(spool, entries(2))
    second = filled(spool, entries(2, start=10))
    assert {first.own.path.name, second.own.path.name} == {"0", "1"}
    second.close()
    # A third process takes the free slot, with the events in it.
    third = SpoolBuffer(spool)
    assert numbers(third) == [10, 11]
    third.close()
    first.close()


def test_slots_that_were_left_behind_are_sent_too(spool: Spool) -> None:
    buffers = [filled(spool, entries(3, start=10 * number)) for number in range(3)]
    for buffer in buffers:
        buffer.close()
    only = SpoolBuffer(spool)
    only.append(entries(1, start=99)[0])
    assert only.pending() == 10
    assert sorted(numbers(only)) == [0, 1, 2, 10, 11, 12, 20, 21, 22, 99]
    only.close()


def test_a_full_disk_refuses_the_event_and_keeps_the_others(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = filled(spool, entries(2))
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:7]) if len(data) > 7 else full())

    def full() -> int:
        raise OSError(28, "No space left on device")

    parts: List[int] = []

    def partly(fd: int, data: bytes) -> int:
        parts.append(len(data))
        return write(fd, data[:7]) if len(parts) == 1 else full()

    monkeypatch.setattr(os, "write", partly)
    with pytest.raises(SpoolError, match="No space left"):
        buffer.append(entries(1, start=50)[0])
    assert len(parts) == 2
    monkeypatch.undo()
    buffer.append(entries(1, start=2)[0])
    assert numbers(buffer) == [0, 1, 2]
    buffer.close()


def test_numbers_of_segments_go_on_after_the_last_one_was_removed(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise `position` names an offset in the new segment, and the events before it are lost."""
    buffer = filled(spool, entries(2))
    assert numbers(buffer) == [0, 1]

    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    # Removes the settled segment, and cannot make the next one.
    monkeypatch.setattr(os, "write", full)
    monkeypatch.setattr(os, "open", full)
    with pytest.raises(SpoolError, match="No space left"):
        buffer.append(entries(1)[0])
    monkeypatch.undo()
    buffer.close()
    assert not list((spool.path / "0").glob("*.events"))
    filled(spool, entries(3, start=5)).close()
    buffer = SpoolBuffer(spool)
    assert numbers(buffer) == [5, 6, 7]
    buffer.close()


def test_a_spool_that_cannot_be_opened_is_an_error_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SpoolError, match="cannot open"):
        Client(NOWHERE, "pk_live_x", spool=Spool(tmp_path / "file" / "spool"))


def test_the_spool_has_a_bound(tmp_path: Path, tenant: str) -> None:
    with Client(NOWHERE, "pk_live_x", spool=Spool(tmp_path, bytes_max=1000), block_seconds_max=0.01, retry=QUICK) as audit:
        with pytest.raises(QueueFull):
            for _ in range(100):
                audit.record(event(tenant))
        stats = audit.stats()
        assert 1 < stats.recorded < 10 and stats.dropped == 1
        assert not audit.record(event(tenant), overflow="drop_newest")


def test_threads_share_one_fsync(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one thread waits for the disk, the events of all others are written; the next fsync is for all of them."""
    buffer = SpoolBuffer(spool)
    made = entries(8)
    buffer.append(made[0])
    all_written, calls, fsync = threading.Event(), [], os.fsync

    def slow(fd: int) -> None:
        calls.append(fd)
        assert all_written.wait(30)
        fsync(fd)

    monkeypatch.setattr(os, "fsync", slow)
    threads = [threading.Thread(target=buffer.sync, args=(made[0],))]
    threads[0].start()
    for one in made[1:]:
        buffer.append(one)
        threads.append(threading.Thread(target=buffer.sync, args=(one,)))
        threads[-1].start()
    all_written.set()
    for thread in threads:
        thread.join()
    assert len(calls) <= 2
    buffer.close()


def test_an_unreachable_server_costs_no_event(server: AuditServer, tmp_path: Path, tenant: str) -> None:
    warned = Warned()
    logging.getLogger("audit_client").addHandler(warned)
    with Client(NOWHERE, server.project_key, spool=Spool(tmp_path), retry=QUICK) as audit:
        for _ in range(20):
            audit.record(event(tenant))
        assert warned.event.wait(60)
        assert not audit.flush(0.1)
        assert audit.stats().pending == 20
    logging.getLogger("audit_client").removeHandler(warned)
    assert "20 events wait" in warned.message
    results: List[Result] = []
    with Client(server.base_url, server.project_key, spool=Spool(tmp_path), on_result=results.append) as audit:
        assert audit.flush()
        stored = list(audit.events.query(tenant_id=tenant))
    assert len(stored) == len(results) == 20
    # The time is that of the event, not of its arrival.
    assert all(one["occurred_at"] < one["received_at"] for one in stored)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
@pytest.mark.parametrize("uses_spool", [False, True])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_sends_its_own_events(server: AuditServer, tmp_path: Path, tenant: str, uses_spool: bool) -> None:
    audit = Client(server.base_url, server.project_key, spool=Spool(tmp_path) if uses_spool else None, flush_interval_seconds=600)
    audit.record(event(tenant, metadata={"by": "parent"}))
    audit.events.page()
    connections = audit.events._transport.http
    reader, writer = os.pipe()
    # Another thread records at this moment. The child has no thread that would ever release its locks.
    buffer, held, is_forked = audit._recorder.buffer, threading.Event(), threading.Event()
    sync_lock = buffer.own.sync_lock if isinstance(buffer, SpoolBuffer) else threading.Lock()

    def hold() -> None:
        with audit._recorder.changed, sync_lock:
            held.set()
            is_forked.wait(60)

    recording = threading.Thread(target=hold)
    recording.start()
    assert held.wait(60)
    child = os.fork()
    if child == 0:
        audit.record(event(tenant, metadata={"by": "child"}))
        is_separate = audit.events.page() is not None and audit.events._transport.http is not connections
        is_stored = audit.flush() and audit.stats().stored == 1
        # Until the parent has closed: the child must hold no lock of it.
        os.close(writer)
        os.read(reader, 1)
        os._exit(0 if audit.close() and is_stored and is_separate else 1)
    is_forked.set()
    recording.join()
    os.close(reader)
    assert audit.close()
    if uses_spool:
        slot = FileLock(tmp_path / "0" / "lock")
        assert slot.acquire()
        slot.release()
    os.close(writer)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert all(lock.acquire() for lock in [FileLock(path) for path in tmp_path.glob("*/lock")])
    with Client(server.base_url, server.project_key) as later:
        assert sorted(one["metadata"]["by"] for one in later.events.query(tenant_id=tenant)) == ["child", "parent"]


def test_kills_of_client_and_server(tmp_path: Path) -> None:
    """Each recorded event is stored exactly once. The full proof is `crash.py` with 50 cycles and 100,000 events."""
    cycles = int(os.environ.get("AUDIT_CLIENT_CRASH_CYCLES", "4"))
    events = int(os.environ.get("AUDIT_CLIENT_CRASH_EVENTS", "1200"))
    assert run(tmp_path, cycles, events, random.randrange(2**32)) == []


def test_the_count_finds_what_is_missing_and_what_is_there_twice() -> None:
    stored: Any = {"a": 1, "b": 2, "c": 1}
    assert problems(["a", "b"], {"a": 1, "b": 1}, 1) == []
    assert len(problems(["a", "b", "d"], stored, 0)) == 3
