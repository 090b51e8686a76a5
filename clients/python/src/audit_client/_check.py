"""What the service refuses for sure, checked where an event is recorded: fields, their types and their lengths.

The service also checks texts for NUL characters, the depth of free-form values, and times.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Callable, Dict, List, Mapping, Tuple, get_args

from ._wire import plain, well_formed, without_none
from .errors import InvalidEvent
from .types import ActorType, Category, Outcome

ACTION = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
ACTION_CHARS_MAX = 256
ID_CHARS_MAX = 256
NAME_CHARS_MAX = 512
CHANGES_ITEMS_MAX = 200
TARGETS_ITEMS_MAX = 16
#: Characters of an event as JSON.
EVENT_CHARS_MAX = 64 * 1024

#: Types that need no conversion to JSON.
BASIC = (str, dict, list, tuple, int, float)
#: Checks a value of the field with this path; returns what is wrong.
Check = Callable[[str, Any], List[str]]


@dataclass(frozen=True)
class Field:
    """A field of an object."""

    check: Check
    is_required: bool = False


def text(chars_min: int, chars_max: int) -> Check:
    def check(path: str, value: Any) -> List[str]:
        if not isinstance(value, str):
            return [f"{path}: must be a string, not {type(value).__name__}"]
        if len(value) < chars_min:
            return [f"{path}: must not be empty"]
        is_too_long = len(value) > chars_max and len(well_formed(value)) > chars_max
        return [f"{path}: must have at most {chars_max} characters"] if is_too_long else []

    return check


def one_of(words: Tuple[str, ...]) -> Check:
    def check(path: str, value: Any) -> List[str]:
        return [] if isinstance(value, str) and value in words else [f"{path}: must be one of {', '.join(words)}"]

    return check


def action(path: str, value: Any) -> List[str]:
    if isinstance(value, str) and len(value) <= ACTION_CHARS_MAX and ACTION.fullmatch(value):
        return []
    return [f"{path}: must be dot-namespaced lower case like user.created, with at most {ACTION_CHARS_MAX} characters"]


def anything(path: str, value: Any) -> List[str]:
    return []


def free_form(path: str, value: Any) -> List[str]:
    return [] if isinstance(value, Mapping) else [f"{path}: must be an object"]


def time(path: str, value: Any) -> List[str]:
    return [f"{path}: must be a string"] if not isinstance(value, str) else []


def written(value: Any) -> Any:
    """A value as JSON has it, as far as the check needs it: the type, not what is within."""
    while value is not None and not isinstance(value, BASIC):
        value = plain(value)
    return value


def fields(members: Dict[str, Field]) -> Check:
    def check(path: str, value: Any) -> List[str]:
        if not isinstance(value, Mapping):
            return [f"{path or 'the event'}: must be an object"]
        prefix = f"{path}." if path else ""
        found: List[str] = []
        for name, member in members.items():
            given = value.get(name)
            if given is not None:
                found += member.check(prefix + name, written(given))
            elif member.is_required:
                found.append(f"{prefix}{name}: is missing")
        return found + [f"{prefix}{name}: is no field of an event" for name in value if name not in members]

    return check


def items(item: Check, items_max: int) -> Check:
    def check(path: str, value: Any) -> List[str]:
        if not isinstance(value, (list, tuple)):
            return [f"{path}: must be a list"]
        if len(value) > items_max:
            return [f"{path}: must have at most {items_max} items"]
        return [problem for index, one in enumerate(value) for problem in item(f"{path}[{index}]", written(one))]

    return check


ID = text(1, ID_CHARS_MAX)
NAME = text(0, NAME_CHARS_MAX)
ANY_TEXT = text(0, EVENT_CHARS_MAX)
CHANGE = fields({"field": Field(text(1, NAME_CHARS_MAX), True), "before": Field(anything), "after": Field(anything)})
PARTY = {"id": Field(ID, True), "type": Field(one_of(get_args(ActorType)), True), "name": Field(NAME)}
ACTOR = {**PARTY, "email": Field(NAME), "on_behalf_of": Field(fields(PARTY))}
TARGET = fields({"id": Field(ID, True), "type": Field(ID, True), "name": Field(NAME)})
CONTEXT = {
    "ip_address": Field(ANY_TEXT),
    "user_agent": Field(ANY_TEXT),
    "location": Field(ANY_TEXT),
    "session_id": Field(text(0, ID_CHARS_MAX)),
}
EVENT = fields(
    {
        "action": Field(action, True),
        "category": Field(one_of(get_args(Category)), True),
        "tenant_id": Field(ID, True),
        "actor": Field(fields(ACTOR), True),
        "target": Field(TARGET),
        "targets": Field(items(TARGET, TARGETS_ITEMS_MAX)),
        "outcome": Field(one_of(get_args(Outcome))),
        "context": Field(fields(CONTEXT)),
        "metadata": Field(free_form),
        "changes": Field(items(CHANGE, CHANGES_ITEMS_MAX)),
        "idempotency_key": Field(ID),
        "occurred_at": Field(time),
    }
)


def check(event: Mapping[str, Any]) -> None:
    """Raises :class:`InvalidEvent` for an event that the service would refuse."""
    problems = EVENT("", without_none(event))
    if not problems and isinstance(event.get("occurred_at"), datetime) and event["occurred_at"].tzinfo is None:
        problems = ["occurred_at: must have a time zone, for example datetime.now(timezone.utc)"]
    if problems:
        raise InvalidEvent(problems)


def check_size(body: bytes) -> None:
    """Raises :class:`InvalidEvent` for an event that is too large, by its JSON."""
    if len(body) > EVENT_CHARS_MAX and len(body.decode("utf-8")) > EVENT_CHARS_MAX:
        raise InvalidEvent([f"event: must have at most {EVENT_CHARS_MAX} characters as JSON"])
