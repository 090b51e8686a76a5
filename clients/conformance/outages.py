#!/usr/bin/env python3
"""Random outages: whether a client without a spool accounts for every event. By hand; Python 3.9 or later and nothing else.

    python3 outages.py [--events 100000] [--minutes 60] [--scale 60] [--seed 42] -- PROGRAM [ARGUMENT…]

Serves events with outages of random length and kind, all from the seed, and runs the program of a client against it:
`python clients/python/tools/outages.py`, `node build/test/programs/outages.js` in `clients/typescript`, or
`cargo run -p audit-client --example outages --`. Time runs `--scale` times as fast, and with it every wait of the client. Prints a row
of a table; exits with 1 if an event is unaccounted for. The last outage begins before the last events are recorded, and does not end.

The program gets the arguments URL, KEY, EVENTS, SECONDS, SCALE. It divides its default waits by SCALE, records EVENTS events, numbered in
`metadata.n`, over SECONDS, and prints one line of JSON: its counts before and after it is closed, and the number of `reported` errors.
"""

import argparse
import bisect
import json
import random
import subprocess
import sys
import threading
import time
from typing import Any, Dict, List, Optional, Tuple

from kit.cases import api_key
from kit.script import Request, Script
from server import Server

HTML = {"body": "<html>Bad Gateway</html>", "headers": {"Content-Type": "text/html"}}
#: What the service does in an outage, and how often.
KINDS: List[Tuple[int, Dict[str, Any]]] = [
    (4, {"status": 503, "error": {"code": "unavailable"}}),
    (4, {"fault": "reset"}),
    (2, {"fault": "reset", "store": True}),
    (2, {"fault": "truncate"}),
    (2, {"fault": "hold"}),
    (2, {"status": 502, **HTML}),
    (1, {"status": 200, **HTML}),
    (1, {"status": 429, "error": {"code": "rate_limited"}}),
    # Reported, unless the client keeps events while its key is refused.
    (1, {"status": 401, "error": {"code": "key_revoked"}}),
]
UP_SECONDS_MEAN = 60
DOWN_SECONDS_MEAN = 20
#: One outage of ten is a long one.
LONG_SHARE = 0.1
LONG_SECONDS = (120, 600)
#: The part of the time after which the last outage begins.
LAST_OUTAGE_AT = 0.97


class Outages(Script):
    def __init__(self, seed: int, seconds: float, scale: float) -> None:
        super().__init__({})
        chance = random.Random(seed)
        self.scale = scale
        self.began_at: Optional[float] = None
        #: Begin, end and kind, in order.
        self.outages: List[Tuple[float, float, Dict[str, Any]]] = []
        weights, kinds = zip(*KINDS)
        at = chance.expovariate(1 / UP_SECONDS_MEAN)
        while at < seconds * LAST_OUTAGE_AT:
            is_long = chance.random() < LONG_SHARE
            down = chance.uniform(*LONG_SECONDS) if is_long else chance.expovariate(1 / DOWN_SECONDS_MEAN)
            end = min(at + down, seconds * LAST_OUTAGE_AT)
            self.outages.append((at, end, chance.choices(kinds, weights)[0]))
            at = end + chance.expovariate(1 / UP_SECONDS_MEAN)
        self.outages.append((seconds * LAST_OUTAGE_AT, float("inf"), KINDS[0][1]))
        self.begins = [begin for begin, _, _ in self.outages]
        self.answered = self.failed = 0
        #: Numbers of the stored events.
        self.numbers: "set[int]" = set()

    def arrive(self, path: str, headers: Dict[str, str], body: bytes) -> Request:
        """As that of a case, without keeping the request."""
        now = time.monotonic()
        request = Request(path, headers, body, now, events=json.loads(body))
        with self.changed:
            if self.began_at is None:
                self.began_at = now
            request.step = self.step_at((now - self.began_at) * self.scale)
            self.answered += 1
            self.failed += bool(request.step)
        return request

    def step_at(self, seconds: float) -> Dict[str, Any]:
        found = bisect.bisect_right(self.begins, seconds) - 1
        return self.outages[found][2] if found >= 0 and seconds < self.outages[found][1] else {}

    def accept(self, request: Request, refused: List[Dict[str, Any]]) -> Dict[str, Any]:
        with self.changed:
            self.numbers.update(event["metadata"]["n"] for event in request.events)
            return super().accept(request, refused)


def problems(script: Outages, counts: Dict[str, Any], events: int) -> List[str]:
    """What does not add up."""
    found = []
    for name in ("before", "after"):
        one = counts[name]
        total = one["stored"] + one["pending"] + one["failed"]
        if total != one["recorded"]:
            found.append(f"{name} the close {one['recorded']} events were recorded, and {total} are accounted for")
        if one["recorded"] + one["dropped"] != events:
            found.append(f"{name} the close {events} events were given, {one['recorded']} recorded and {one['dropped']} dropped")
    after = counts["after"]
    if after["failed"] != counts["reported"] or after["pending"]:
        found.append(f"after the close {after['failed']} events failed, {counts['reported']} were reported, {after['pending']} are pending")
    stored = len(script.ids)
    if stored != len(script.numbers):
        found.append(f"{stored - len(script.numbers)} events were stored twice")
    if not after["stored"] <= stored <= after["stored"] + after["failed"]:
        found.append(f"{stored} events are stored, and the client knows of {after['stored']}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--scale", type=float, default=60)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    seconds = options.minutes * 60
    server = Server({})
    script = server.script = Outages(options.seed, seconds, options.scale)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    arguments = [f"http://127.0.0.1:{server.server_port}", api_key(), options.events, seconds / options.scale, options.scale]
    command = options.program + [str(argument) for argument in arguments]
    counts = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    lengths = [min(end, seconds) - begin for begin, end, _ in script.outages]
    print(f"{len(lengths)} outages, {sum(lengths) / seconds:.0%} of {options.minutes:g} minutes, the longest {max(lengths):.0f} s; "
          f"{script.failed} of {script.answered} requests failed", file=sys.stderr)
    before, after = counts["before"], counts["after"]
    row = [before["recorded"], before["stored"], before["pending"], before["failed"], before["dropped"], after["stored"], after["failed"],
           len(script.ids)]
    print("| " + " | ".join(f"{number:,}" for number in row) + " |")
    found = problems(script, counts, options.events)
    print("\n".join(found), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
