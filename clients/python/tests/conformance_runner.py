"""Runs the cases of clients/conformance with the client for threads or for asyncio.

python conformance_runner.py NAME DIRECTORY threads|asyncio    prints the problems: for cases that stop this process
"""

import asyncio
import functools
import json
import os
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

import httpx

from audit_client import ApiError, AsyncClient, AuditError, Client, QueueFull, Result, RetryPolicy, Spool, SpoolError

SERVER = Path(__file__).parents[2] / "conformance" / "server.py"
SECONDS_MAX = 60.0
#: What this machine has.
OFFERS: List[str] = json.loads(subprocess.check_output([sys.executable, str(SERVER), "--offers"]))


def all_cases() -> List[Dict[str, Any]]:
    cases: List[Dict[str, Any]] = json.loads(subprocess.check_output([sys.executable, str(SERVER), "--list"]))
    return cases


class Outcome:
    """What the client reports, in the form of the kit."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.stored: List[str] = []
        self.errors: List[Dict[str, Any]] = []
        self.dropped = self.raised = self.pending = 0
        self.flushes: List[bool] = []

    def on_result(self, result: Result) -> None:
        if result.error is None:
            assert result.id is not None
            self.stored.append(result.id)
        else:
            self.failed(result.error)

    def failed(self, error: AuditError) -> None:
        response = error if isinstance(error, ApiError) else ApiError("no response")
        self.errors.append({"status": response.status, "code": response.code})

    def refused_at_once(self) -> None:
        self.raised += 1

    def client_ended(self, client: Any) -> None:
        stats = client.stats()
        self.dropped += stats.dropped
        self.pending = stats.pending

    def add(self, reported: Dict[str, Any]) -> None:
        """Adds the outcome of another process."""
        for name, value in reported.items():
            setattr(self, name, getattr(self, name) + value)


def options(client: Dict[str, Any], base_url: str, spool: Path, outcome: Outcome) -> Dict[str, Any]:
    """The client's options for those of a case. An unknown one is a fault of this runner."""
    made: Dict[str, Any] = {"base_url": base_url, "on_result": outcome.on_result}
    retry: Dict[str, float] = {}
    for name, value in client.items():
        if name in ("api_key", "claim_token", "batch_events", "queue_events_max", "overflow", "keep_unauthorized"):
            made[name] = value
        elif name == "mode":
            made["stream"] = value == "stream"
        elif name == "flush_interval_ms":
            made["flush_interval_seconds"] = value / 1000
        elif name == "timeout_ms":
            made["timeout_seconds"] = value / 1000
        elif name == "block_ms_max":
            made["block_seconds_max"] = value / 1000
        elif name == "backoff_ms":
            retry["backoff_seconds"] = value / 1000
        elif name == "backoff_ms_max":
            retry["backoff_seconds_max"] = value / 1000
        elif name == "retry_after_seconds_max":
            retry["retry_after_seconds_max"] = value
        elif name == "spool":
            made["spool"] = Spool(value if isinstance(value, str) else spool) if value else None
        else:
            raise KeyError(f"the case has an option {name} that the runner does not know")
    made["retry"] = RetryPolicy(**retry)
    return made


class Run:
    """One case with one server."""

    def __init__(self, name: str, spool: Path) -> None:
        self.process = subprocess.Popen([sys.executable, str(SERVER), "--case", name], stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        hello = json.loads(self.process.stdout.readline())
        self.base_url: str = hello["base_url"]
        self.case = hello["case"]
        self.outcome = Outcome()
        self.options = options(self.case["client"], self.base_url, spool, self.outcome)

    def control(self, step: Dict[str, Any]) -> None:
        response = httpx.request(step.get("method", "GET"), self.base_url + step["path"], timeout=SECONDS_MAX)
        assert response.status_code == 200, f"{step['path']}: {response.status_code}"

    def fork(self, work: Callable[[], None]) -> None:
        """Does this in a child, to whose end it waits, with the client that was made here."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                self.outcome.clear()
                work()
                os.write(writer, json.dumps(vars(self.outcome)).encode())
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(writer)
        with os.fdopen(reader, encoding="utf-8") as file:
            reported = file.read()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        self.outcome.add(json.loads(reported))

    def verdict(self) -> List[str]:
        verdict = httpx.post(self.base_url + "/__report", json=vars(self.outcome), timeout=SECONDS_MAX).json()
        assert self.process.stdout is not None
        self.process.stdout.close()
        code = self.process.wait()
        assert verdict["passed"] == (code == 0)
        problems: List[str] = verdict["problems"]
        return problems


def deadline(step: Dict[str, Any]) -> float:
    return float(step.get("deadline_ms", SECONDS_MAX * 1000)) / 1000


def run(name: str, spool: Path) -> List[str]:
    """The problems of the client for threads."""
    this = Run(name, spool)
    client = Client(**this.options)
    threads: List[threading.Thread] = []

    def record(events: List[Any]) -> None:
        for event in events:
            attempt(lambda event=event: client.record(event), this.outcome)  # type: ignore[misc]

    def close(step: Dict[str, Any]) -> None:
        this.outcome.flushes.append(client.close(deadline(step)))
        this.outcome.client_ended(client)

    def in_child(step: Dict[str, Any]) -> None:
        record(step["events"])
        close(step)

    for step in this.case["do"]:
        if step["do"] == "record" and step.get("background"):
            threads.append(threading.Thread(target=record, args=(step["events"],)))
            threads[-1].start()
        elif step["do"] == "record":
            record(step["events"])
        elif step["do"] == "join":
            for thread in threads:
                thread.join()
        elif step["do"] == "ingest":
            try:
                this.outcome.stored += client.events.ingest(step["events"][0])["ids"]
            except AuditError as error:
                this.outcome.failed(error)
        elif step["do"] == "flush":
            this.outcome.flushes.append(client.flush(deadline(step)))
        elif step["do"] == "close":
            close(step)
        elif step["do"] == "fork":
            this.fork(functools.partial(in_child, step))
        elif step["do"] == "restart":
            client.close(0)
            this.outcome.client_ended(client)
            client = Client(**this.options)
        elif step["do"] == "control":
            this.control(step)
        else:
            raise KeyError(f"the case has a step {step['do']} that the runner does not know")
    return this.verdict()


def attempt(record: Callable[[], Any], outcome: Outcome) -> None:
    try:
        record()
    except (QueueFull, SpoolError):
        outcome.refused_at_once()


async def run_async(name: str, spool: Path) -> List[str]:
    """The problems of the client for asyncio."""
    this = Run(name, spool)
    client = AsyncClient(**this.options)
    tasks: List[asyncio.Task[None]] = []

    async def record(events: List[Any]) -> None:
        for event in events:
            try:
                await client.record(event)
            except (QueueFull, SpoolError):
                this.outcome.refused_at_once()

    async def close(step: Dict[str, Any]) -> None:
        this.outcome.flushes.append(await client.close(deadline(step)))
        this.outcome.client_ended(client)

    async def in_child(step: Dict[str, Any]) -> None:
        await record(step["events"])
        await close(step)

    for step in this.case["do"]:
        if step["do"] == "record" and step.get("background"):
            tasks.append(asyncio.create_task(record(step["events"])))
        elif step["do"] == "record":
            await record(step["events"])
        elif step["do"] == "join":
            await asyncio.gather(*tasks)
        elif step["do"] == "ingest":
            try:
                this.outcome.stored += (await client.events.ingest(step["events"][0]))["ids"]
            except AuditError as error:
                this.outcome.failed(error)
        elif step["do"] == "flush":
            this.outcome.flushes.append(await client.flush(deadline(step)))
        elif step["do"] == "close":
            await close(step)
        elif step["do"] == "fork":
            # The event loop of the parent does not survive it.
            this.fork(lambda step=step: asyncio.run(in_child(step)))  # type: ignore[misc]
        elif step["do"] == "restart":
            await client.close(0)
            this.outcome.client_ended(client)
            client = AsyncClient(**this.options)
        elif step["do"] == "control":
            await asyncio.to_thread(this.control, step)
        else:
            raise KeyError(f"the case has a step {step['do']} that the runner does not know")
    return this.verdict()


def skipped_needs(case: Dict[str, Any]) -> Optional[str]:
    """What the case needs and this client lacks."""
    offered = {"spool", *OFFERS}
    if hasattr(os, "fork"):
        offered.add("fork")
    if sys.platform == "linux":
        offered.add("freeze")
    missing = sorted(set(case["needs"]) - offered)
    return ", ".join(missing) or None


def run_apart(name: str, spool: Path, kind: str) -> List[str]:
    """As `run`, in a process of its own.

    An interactive shell takes its terminal back from a test that is stopped, and threads of other tests may hold locks at a fork.
    """
    command = [sys.executable, __file__, name, str(spool), kind]
    problems: List[str] = json.loads(subprocess.check_output(command))
    return problems


def main() -> None:
    name, spool, kind = sys.argv[1:]
    found = run(name, Path(spool)) if kind == "threads" else asyncio.run(run_async(name, Path(spool)))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
