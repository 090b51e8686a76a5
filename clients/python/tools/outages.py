#!/usr/bin/env python3
"""The program of clients/conformance/outages.py: URL KEY EVENTS SECONDS SCALE."""

import json
import sys
import time
from dataclasses import asdict
from typing import List

from audit_client import Client, EventInput, QueueFull, Result, RetryPolicy

#: Events between two looks at the clock and the counts.
TOGETHER = 20
#: Of the service's time.
CLOSE_SECONDS_MAX = 60


def event(number: int) -> EventInput:
    return {
        "action": "invoice.updated",
        "category": "mutation",
        "tenant_id": "acme",
        "actor": {"id": "user_1", "type": "user"},
        "metadata": {"n": number},
    }


def main() -> None:
    url, key = sys.argv[1:3]
    events, seconds, scale = int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5])
    errors: List[Result] = []
    audit = Client(
        url,
        key,
        timeout_seconds=30 / scale,
        flush_interval_seconds=5 / scale,
        block_seconds_max=30 / scale,
        retry=RetryPolicy(backoff_seconds=0.5 / scale, backoff_seconds_max=30 / scale),
        on_result=lambda result: errors.append(result) if result.error is not None else None,
    )
    began = time.monotonic()
    for number in range(events):
        try:
            audit.record(event(number))
        except QueueFull:
            pass
        if number % TOGETHER == 0:
            stats = audit.stats()
            assert stats.stored + stats.failed + stats.pending == stats.recorded, stats
            time.sleep(max(0.0, began + seconds * number / events - time.monotonic()))
    before = audit.stats()
    audit.close(CLOSE_SECONDS_MAX / scale)
    print(json.dumps({"before": asdict(before), "after": asdict(audit.stats()), "reported": len(errors)}))


if __name__ == "__main__":
    main()
