"""The verdict: whether a client sent what the case expects, and reported what happened."""

import collections
import json
import re
from typing import Any, Dict, Iterable, List

from .script import BODY_BYTES_MAX, EVENTS_MAX, Script

UUID4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
# The first attempt and two retries.
ATTEMPTS_MAX = 3
# Timers of some platforms end up to a millisecond early.
TIMER_SECONDS = 0.005
COUNTS = ("dropped", "raised", "pending")


def problems(script: Script, outcome: Dict[str, Any]) -> List[str]:
    """What is wrong, in words; empty if the client conforms."""
    found: List[str] = []
    for check in (requests_are_well_formed, events_are_as_recorded, attempts_are_bounded, order_is_kept,
                  requests_are_expected, waits_are_kept, outcome_is_expected):
        found += check(script, outcome)
    return found


def recorded(script: Script) -> List[Dict[str, Any]]:
    """The events that the case records or ingests, at their numbers."""
    return [event for step in script.case["do"] for event in step.get("events", [])]


def requests_are_well_formed(script: Script, _: Dict[str, Any]) -> Iterable[str]:
    options = script.case["client"]
    is_stream = options.get("mode") == "stream"
    path = rf"/api/v1/streams/({UUID4})/events" if is_stream else r"/api/v1/events"
    tokens = set()
    for number, request in enumerate(script.requests, 1):
        match = re.fullmatch(path, request.path)
        if not match:
            yield f"request {number}: path {request.path}"
        elif is_stream:
            tokens.add(match[1])
        expected = None if is_stream else "Bearer " + options["api_key"]
        if request.headers.get("authorization") != expected:
            yield f"request {number}: the header Authorization is not {expected!r}"
        if not request.headers.get("content-type", "").startswith("application/json"):
            yield f"request {number}: Content-Type {request.headers.get('content-type')!r}"
        if not 1 <= len(request.events) <= EVENTS_MAX:
            yield f"request {number}: {len(request.events)} events"
        if len(request.body) > BODY_BYTES_MAX:
            yield f"request {number}: a body of {len(request.body)} bytes"
    if len(tokens) > 1:
        yield "one client used several claim tokens"
    if "claim_token" in options and tokens - {options["claim_token"]}:
        yield "the claim token is not the given one"


def events_are_as_recorded(script: Script, _: Dict[str, Any]) -> Iterable[str]:
    """Every event has its content and its idempotency key, the same ones in every attempt."""
    given = recorded(script)
    added = script.case["expect"].get("adds", [])
    first: Dict[int, Any] = {}
    keys: Dict[str, int] = {}
    for event in (event for request in script.requests for event in request.events):
        number = event.get("metadata", {}).get("n")
        if not isinstance(number, int) or not 0 <= number < len(given):
            yield f"an event that was not recorded: {json.dumps(event)[:200]}"
            continue
        key = event.get("idempotency_key")
        wanted = re.escape(given[number]["idempotency_key"]) if "idempotency_key" in given[number] else UUID4
        if not isinstance(key, str) or not re.fullmatch(wanted, key):
            yield f"event {number}: idempotency key {key!r}"
        elif keys.setdefault(key, number) != number:
            yield f"events {keys[key]} and {number} have one idempotency key"
        if first.setdefault(number, event) != event:
            yield f"event {number}: another attempt has other content or another idempotency key"
        sent = {name: value for name, value in event.items() if name in given[number]}
        if sent != given[number] or set(event) - set(given[number]) - {"idempotency_key", "occurred_at"}:
            yield f"event {number}: sent as {json.dumps(event)[:300]}"
        for name in added:
            if name not in event:
                yield f"event {number}: has no {name}"


def attempts_are_bounded(script: Script, _: Dict[str, Any]) -> Iterable[str]:
    if script.case["expect"].get("repeats"):
        # A client that was ended during a request does not know what became of it.
        return
    limit = script.case["expect"].get("attempts_max", ATTEMPTS_MAX)
    attempts: Dict[int, int] = collections.Counter()
    settled: Dict[int, int] = {}
    for position, request in enumerate(script.requests, 1):
        for event in request.events:
            number = event.get("metadata", {}).get("n")
            attempts[number] += 1
            if number in settled:
                yield f"event {number}: sent again in request {position}, although request {settled[number]} settled it"
        settled.update({number: position for number in request.settled})
    for number, count in attempts.items():
        if limit != "any" and count > limit:
            yield f"event {number}: {count} attempts, at most {limit}"


def order_is_kept(script: Script, _: Dict[str, Any]) -> Iterable[str]:
    """Events that one process recorded one after the other are stored in this order, whatever happened in between."""
    if script.case["expect"].get("repeats"):
        return
    apart = {event["metadata"]["n"] for step in script.case["do"] if step["do"] in ("ingest", "fork") for event in step["events"]}
    stored = [number for request in script.requests for number in request.settled if number not in apart]
    for before, after in zip(stored, stored[1:]):
        if after < before:
            yield f"event {after} was stored after event {before}"


def requests_are_expected(script: Script, _: Dict[str, Any]) -> Iterable[str]:
    expected = script.case["expect"]
    if "requests" in expected and not fits(len(script.requests), expected["requests"]):
        yield f"{len(script.requests)} requests, expected {expected['requests']}"
    sizes = [len(request.events) for request in script.requests]
    if "events_per_request" in expected and sizes != expected["events_per_request"]:
        yield f"requests of {sizes} events, expected {expected['events_per_request']}"
    if "stored_by_server" in expected and len(script.ids) != expected["stored_by_server"]:
        yield f"the server stored {len(script.ids)} events, expected {expected['stored_by_server']}"


def waits_are_kept(script: Script, _: Dict[str, Any]) -> Iterable[str]:
    """A client waits at least as long as it was told. How much longer does not matter."""
    for position, seconds in enumerate(script.case["expect"].get("gaps_seconds_min", [])):
        if position + 1 >= len(script.requests):
            yield f"there is no request {position + 2}"
            continue
        before, after = script.requests[position], script.requests[position + 1]
        gap = after.arrived_at - (before.answered_at or after.arrived_at)
        if gap < seconds - TIMER_SECONDS:
            yield f"request {position + 2} came {gap:.3f} s after the response before it, at least {seconds} s expected"


def outcome_is_expected(script: Script, outcome: Dict[str, Any]) -> Iterable[str]:
    expected = script.case["expect"]
    stored, errors = outcome.get("stored", []), outcome.get("errors", [])
    if not fits(len(stored), expected.get("stored", 0)):
        yield f"the client reports {len(stored)} stored events, expected {expected.get('stored', 0)}"
    if len(set(stored)) != len(stored) or set(stored) - set(script.ids.values()):
        yield "the client reports ids that the server did not issue, or one twice"
    if expected.get("errors") != "any":
        yield from errors_are_expected(errors, expected.get("errors", []))
    for name in COUNTS:
        if not fits(outcome.get(name, 0), expected.get(name, 0)):
            yield f"the client reports {name} {outcome.get(name, 0)}, expected {expected.get(name, 0)}"
    if outcome.get("flushes", []) != expected.get("flushes", outcome.get("flushes", [])):
        yield f"flushes and closes in time: {outcome.get('flushes')}, expected {expected['flushes']}"
    total = len(stored) + len(errors) + outcome.get("dropped", 0) + outcome.get("pending", 0)
    if total != len(recorded(script)):
        yield f"{len(recorded(script))} events were recorded, and the client accounts for {total}"


def errors_are_expected(errors: List[Dict[str, Any]], expected: List[Dict[str, Any]]) -> Iterable[str]:
    """Every expected entry matches `count` reported ones in all fields that it has."""
    left = list(errors)
    for entry in expected:
        wanted = {name: value for name, value in entry.items() if name != "count"}
        matching = [error for error in left if all(error.get(name) == value for name, value in wanted.items())]
        if len(matching) != entry.get("count", 1):
            yield f"{len(matching)} reported errors are like {wanted}, expected {entry.get('count', 1)}; reported: {errors[:3]}"
        for error in matching:
            left.remove(error)
    if left:
        yield f"errors that are not expected: {left[:3]}"


def fits(number: int, expected: Any) -> bool:
    """Whether a number is the expected one, or between `min` and `max`."""
    if isinstance(expected, dict):
        return expected.get("min", number) <= number <= expected.get("max", number)
    return bool(number == expected)
