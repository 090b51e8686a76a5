"""Reads the cases and expands them: every event is written out, every option has a value."""

import binascii
import json
import pathlib
from typing import Any, Dict, List

CASES = pathlib.Path(__file__).parent.parent / "cases"

# What every case sets, unless it says otherwise. A case with `"defaults": true` sets nothing but the waiting time between attempts.
OPTIONS = {
    "batch_events": 10,
    "flush_interval_ms": 600_000,
    "queue_events_max": 1000,
    "overflow": "error",
    "timeout_ms": 30_000,
    "retry_after_seconds_max": 60,
    "mode": "project",
    "spool": False,
}
BACKOFF_MS = 1

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def api_key() -> str:
    """A project key of the service's form, checksum included. It is made here so that no scanner finds a key in the repository."""
    covered = "pk_live_" + "Conformance".ljust(33, "0")
    number, digits = binascii.crc32(covered.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = ALPHABET[digit] + digits
    return covered + digits


def event(number: int, given: Dict[str, Any]) -> Dict[str, Any]:
    """The event with this number in its case. `metadata.n` is how the checks recognise it."""
    made = {
        "action": "invoice.updated",
        "category": "mutation",
        "tenant_id": "acme",
        "actor": {"id": "user_1", "type": "user"},
        **{name: value for name, value in given.items() if name != "padding_chars"},
        "metadata": {"n": number},
    }
    if "padding_chars" in given:
        made["metadata"]["padding"] = "x" * given["padding_chars"]
    return made


def expand(case: Dict[str, Any]) -> Dict[str, Any]:
    """The case as a runner gets it."""
    options = {} if case.get("defaults") else dict(OPTIONS)
    options.update({"backoff_ms": BACKOFF_MS, "api_key": api_key()})
    options.update(case.get("client", {}))
    if options.get("mode") == "stream":
        del options["api_key"]
    number, steps = 0, []
    for step in case["do"]:
        step = dict(step)
        if step["do"] in ("record", "ingest", "fork"):
            count = step.pop("count", 1)
            given = step.pop("event", {})
            step["events"] = [event(number + index, given) for index in range(count)]
            number += count
        steps.append(step)
    return {**case, "client": options, "do": steps, "needs": case.get("needs", [])}


def load() -> List[Dict[str, Any]]:
    """All cases, by file and then in the order of the file."""
    found = []
    for path in sorted(CASES.glob("*.json")):
        found += [expand(case) for case in json.loads(path.read_text(encoding="utf-8"))]
    names = [case["name"] for case in found]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"cases with one name: {repeated}")
    return found
