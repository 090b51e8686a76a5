#!/usr/bin/env python3
"""Measures how many events per second the client records and the server stores: AUDIT_URL=… AUDIT_KEY=… python tools/throughput.py

Each line is the median of five runs: all events are recorded by one thread, then flushed. The
client, its thread and the server share the processors of this machine, if the server runs on it.
"""

import argparse
import os
import statistics
import tempfile
import time
from typing import Any, Dict, List

from audit_client import Client, EventInput, Spool

RUNS = 5


def event(number: int) -> EventInput:
    return {
        "action": "invoice.updated",
        "category": "mutation",
        "tenant_id": f"tenant_{number % 50}",
        "actor": {"id": f"user_{number % 1000}", "type": "user", "name": "Jane Doe"},
        "target": {"id": str(number), "type": "invoice"},
        "context": {"ip_address": "203.0.113.7", "user_agent": "Mozilla/5.0"},
        "metadata": {"note": "a short text", "total": number},
        "changes": [{"field": "total", "before": number - 1, "after": number}],
    }


def measure(events: int, **options: Any) -> float:
    """Events per second, from the first `record` to the response to the last batch."""
    with Client(os.environ["AUDIT_URL"], os.environ["AUDIT_KEY"], **options) as audit:
        # The connection and the thread are there already in an application that runs.
        audit.record(event(0))
        audit.flush()
        started = time.perf_counter()
        for number in range(events):
            audit.record(event(number))
        if not audit.flush(600) or audit.stats().failed:
            raise SystemExit(f"not everything was stored: {audit.stats()}")
        return events / (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=20_000)
    events = parser.parse_args().events
    cases: Dict[str, Dict[str, Any]] = {"defaults": {}, "batches of 100": {"batch_events": 100}}
    for name, options in cases.items():
        runs: List[float] = [measure(events, **options) for _ in range(RUNS)]
        print(f"{name}: {statistics.median(runs):,.0f} events/s ({min(runs):,.0f} to {max(runs):,.0f})")
    runs = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as directory:
            runs.append(measure(events // 4, batch_events=100, spool=Spool(directory)))
    print(f"batches of 100, spool: {statistics.median(runs):,.0f} events/s ({min(runs):,.0f} to {max(runs):,.0f})")


if __name__ == "__main__":
    main()
