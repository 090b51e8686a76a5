"""The events that are not settled yet: in memory here, on the disk in :mod:`audit_client.spool`."""

import collections
import json
import uuid
from datetime import datetime, timezone
from typing import Any, Deque, Dict, List, Mapping

from ._check import check, check_size
from ._wire import encode, time_text, without_none
from .errors import InvalidEvent

#: The server refuses larger requests. The bound of the body leaves room below its 1,048,576 bytes.
REQUEST_EVENTS_MAX = 100
REQUEST_BODY_BYTES_MAX = 1_000_000


class Entry:
    """One event as it is sent, the same bytes in every attempt."""

    __slots__ = ("body", "end", "segment")

    def __init__(self, body: bytes, segment: int = 0, end: int = 0) -> None:
        self.body = body
        #: In a spool: where the entry ends.
        self.segment = segment
        self.end = end

    def event(self) -> Dict[str, Any]:
        parsed: Dict[str, Any] = json.loads(self.body)
        return parsed


def entry_of(event: Mapping[str, Any]) -> Entry:
    """Adds what a retry needs: the idempotency key, and the time, which would otherwise be that of the successful attempt.

    An event with a key of the caller gets no time: the caller may record it twice, and with another time the second would
    be a conflict instead of a repeat.
    """
    if not isinstance(event, Mapping):
        raise TypeError(f"an event is a dictionary, not {type(event).__name__}")
    made: Dict[str, Any] = without_none(event)
    if "idempotency_key" not in made:
        made["idempotency_key"] = str(uuid.uuid4())
        made.setdefault("occurred_at", time_text(datetime.now(timezone.utc)))
    return Entry(encode(made))


def checked_entry(event: Mapping[str, Any]) -> Entry:
    """The entry of an event. Raises :class:`InvalidEvent` if the service would refuse it, or JSON cannot express it."""
    try:
        check(event)
        entry = entry_of(event)
    except (TypeError, ValueError, RecursionError) as error:
        raise error if isinstance(error, InvalidEvent) else InvalidEvent([f"event: is not JSON: {error}"]) from error
    check_size(entry.body)
    return entry


class Buffer:
    """What the recorder needs of its buffer. The recorder's lock is held for every call except ``sync``."""

    #: Whether the entries survive the process.
    is_durable = False

    def pending(self) -> int:
        raise NotImplementedError

    def has_room(self, entry: Entry) -> bool:
        raise NotImplementedError

    def append(self, entry: Entry) -> None:
        raise NotImplementedError

    def sync(self, entry: Entry) -> None:
        """Returns when the entry is safe."""

    def peek(self) -> List[Entry]:
        """The oldest entries, as many as one request may have."""
        raise NotImplementedError

    def advance(self, entries: List[Entry]) -> None:
        """Removes entries, which are the oldest ones."""
        raise NotImplementedError

    def close(self) -> List[Entry]:
        """Releases what the buffer holds. Returns the entries that are lost; those of a durable buffer stay."""
        raise NotImplementedError

    def release_after_fork(self) -> None:
        """Releases what the child of a fork has of its parent's buffer."""


class MemoryBuffer(Buffer):
    """At most ``events_max`` events, those of the request under way included."""

    def __init__(self, events_max: int) -> None:
        self.events_max = events_max
        self.entries: Deque[Entry] = collections.deque()

    def pending(self) -> int:
        return len(self.entries)

    def has_room(self, entry: Entry) -> bool:
        return len(self.entries) < self.events_max

    def append(self, entry: Entry) -> None:
        self.entries.append(entry)

    def peek(self) -> List[Entry]:
        return first_of(self.entries)

    def advance(self, entries: List[Entry]) -> None:
        for _ in entries:
            self.entries.popleft()

    def close(self) -> List[Entry]:
        left = list(self.entries)
        self.entries.clear()
        return left


def first_of(entries: "Deque[Entry]") -> List[Entry]:
    """The first entries that fit in one request; at least one, if there is any."""
    taken: List[Entry] = []
    size = 2
    for entry in entries:
        size += len(entry.body) + 1
        if taken and (len(taken) == REQUEST_EVENTS_MAX or size > REQUEST_BODY_BYTES_MAX):
            break
        taken.append(entry)
    return taken


def body_of(entries: List[Entry]) -> bytes:
    return b"[" + b",".join(entry.body for entry in entries) + b"]"
