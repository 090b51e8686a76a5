"""Records events in the background: one thread that sends batches, in the order in which the events were recorded."""

import atexit
import collections
import json
import logging
import os
import threading
import time
import weakref
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, Union

from ._buffer import Buffer, Entry, MemoryBuffer, body_of, checked_entry
from ._policy import check_number, concerns_events, concerns_request, is_temporary
from ._transport import Settings, Transport
from ._wire import Call, Outcome, json_of, outcomes_of
from .errors import AuditError, ClientClosed, InvalidEvent, NotSent, QueueFull, SpoolError
from .spool import Spool, SpoolBuffer

LOGGER = logging.getLogger("audit_client")
#: What an exiting interpreter waits for events of a client that was not closed.
EXIT_SECONDS_MAX = 5.0
THREAD_NAME = "audit-client"
#: The longest pause after a failed send while the client is being closed: it has little time left.
CLOSING_PAUSE_SECONDS_MAX = 2.0

Overflow = Literal["block", "drop_newest", "error"]


@dataclass(frozen=True)
class Result:
    """What became of a recorded event: ``id`` if it was stored, otherwise ``error``."""

    id: Optional[str]
    error: Optional[AuditError]
    body: bytes

    @property
    def event(self) -> Dict[str, Any]:
        """The event as it was sent, with its idempotency key."""
        return Entry(self.body).event()


@dataclass(frozen=True)
class Stats:
    """Counts since the client was made.

    Events that were recorded are ``stored``, ``failed``, or ``pending``: ``failed`` are those that are not valid, were refused, or
    were left when the client was closed. ``dropped`` are those that did not enter the queue, or the spool. ``middleware_errors``
    are the errors that the middleware with this client have reported: a function of the application that raised, an event without a
    tenant, an event that ``record`` refused with an error. Such an event may be in no other count.
    """

    recorded: int
    stored: int
    failed: int
    dropped: int
    pending: int
    middleware_errors: int = 0


@dataclass(frozen=True)
class Recording:
    """How events are recorded in the background."""

    batch_events: int = 10
    flush_interval_seconds: float = 5.0
    queue_events_max: int = 1000
    overflow: Overflow = "block"
    block_seconds_max: float = 30.0
    spool: Optional[Spool] = None
    keep_unauthorized: Optional[bool] = None
    on_result: Optional[Callable[[Result], None]] = None
    raise_invalid: bool = False

    def __post_init__(self) -> None:
        for name in ("batch_events", "flush_interval_seconds", "queue_events_max", "block_seconds_max"):
            check_number(name, getattr(self, name))
        if not 1 <= self.batch_events <= 100:
            raise ValueError("batch_events must be 1 to 100")
        if self.queue_events_max < self.batch_events:
            raise ValueError("queue_events_max must be at least batch_events")
        if self.overflow not in ("block", "drop_newest", "error"):
            raise ValueError(f"overflow must be block, drop_newest or error, not {self.overflow!r}")

    def keeps(self, error: AuditError) -> bool:
        """Whether events wait after a send that failed in this way."""
        keeps_unauthorized = self.spool is not None if self.keep_unauthorized is None else self.keep_unauthorized
        return is_temporary(error) or (keeps_unauthorized and not concerns_events(error))

    def buffer(self) -> Buffer:
        return MemoryBuffer(self.queue_events_max) if self.spool is None else SpoolBuffer(self.spool)


class Recorder:
    """Used by any number of threads."""

    def __init__(self, settings: Settings, path: str, options: Recording) -> None:
        self.settings = settings
        self.path = path
        self.options = options
        self.buffer = options.buffer()
        self.must_open = False
        self.start_afresh()
        RECORDERS.add(self)
        if self.buffer.pending():
            # Events of an earlier process.
            self.recorded = self.flush_to = self.buffer.pending()
            with self.changed:
                self.start_thread()

    def start_afresh(self) -> None:
        self.changed = threading.Condition()
        self.thread: Optional[threading.Thread] = None
        self.recorded = self.stored = self.failed = self.dropped = 0
        #: Events that did not enter the queue, because the service would refuse them.
        self.invalid = 0
        self.middleware_errors = 0
        #: Events up to this number (of those recorded) are sent without waiting for more.
        self.flush_to = 0
        self.first_at = time.monotonic()
        #: Sends that failed one after the other, and when the first attempt did.
        self.failed_sends = 0
        self.failing_since: Optional[float] = None
        #: The next send is at ``paused_until``; a flush moves it forward, but not before ``not_before``: a ``Retry-After``.
        self.paused_until = self.not_before = 0.0
        #: Events that were lost when a flush last told of it.
        self.told_lost = 0
        self.is_closing = self.is_abandoned = self.is_finished = False

    def after_fork(self) -> None:
        """The child has no thread, and none of the parent's events: the parent sends them."""
        self.buffer.release_after_fork()
        self.buffer = MemoryBuffer(self.options.queue_events_max)
        self.must_open = self.options.spool is not None
        is_closing = self.is_closing
        self.start_afresh()
        self.is_closing = is_closing

    def open_after_fork(self) -> None:
        """Opens a slot of the spool for a child that records. Most children do not."""
        self.buffer = self.options.buffer()
        self.must_open = False
        self.recorded = self.flush_to = self.buffer.pending()

    # Recording.

    def record(self, event: Mapping[str, Any], overflow: Optional[Overflow] = None) -> bool:
        """Whether the event was taken; ``False`` only if it was dropped because there is no room."""
        entry = self.entry_of(event)
        if entry is None:
            return False
        return self.record_entry(entry, overflow or self.options.overflow, self.options.block_seconds_max)

    def entry_of(self, event: Mapping[str, Any]) -> Optional[Entry]:
        """The entry of an event; ``None`` for an invalid one, which is counted and reported at once."""
        try:
            return checked_entry(event)
        except InvalidEvent as error:
            with self.changed:
                self.invalid += 1
            if self.options.raise_invalid:
                raise
            self.report([Result(None, error, readable(event))])
            return None

    def record_entry(self, entry: Entry, overflow: Overflow, block_seconds_max: float) -> bool:
        with self.changed:
            if self.must_open:
                self.open_after_fork()
            if not self.make_room(entry, overflow, block_seconds_max):
                return False
            self.take(entry)
        self.buffer.sync(entry)
        return True

    def record_if_room(self, entry: Entry) -> bool:
        """Records without waiting for room. ``False`` if there is none; nothing is counted then."""
        with self.changed:
            if self.must_open or self.is_closing or not self.buffer.has_room(entry):
                return False
            self.take(entry)
        self.buffer.sync(entry)
        return True

    def take(self, entry: Entry) -> None:
        """Adds an event for which there is room. With the lock held."""
        if self.buffer.pending() == 0:
            self.first_at = time.monotonic()
        try:
            self.buffer.append(entry)
        except SpoolError:
            self.dropped += 1
            raise
        self.recorded += 1
        self.start_thread()
        pending = self.buffer.pending()
        if pending == 1 or pending == self.options.batch_events:
            self.changed.notify_all()

    def make_room(self, entry: Entry, overflow: Overflow, block_seconds_max: float) -> bool:
        if self.is_closing:
            raise ClientClosed("the client is closed")
        if self.buffer.has_room(entry):
            return True
        if overflow == "block":
            self.flush_to = self.recorded
            self.changed.notify_all()
            if self.failing_since is not None:
                # Not for every caller again: an application must not stop with the service.
                block_seconds_max = max(0.0, self.failing_since + block_seconds_max - time.monotonic())
            seconds_max = min(block_seconds_max, threading.TIMEOUT_MAX)
            is_free = self.changed.wait_for(lambda: self.is_closing or self.buffer.has_room(entry), seconds_max)
            if self.is_closing:
                raise ClientClosed("the client is closed")
            if is_free:
                return True
        self.dropped += 1
        if overflow == "drop_newest":
            return False
        raise QueueFull(f"{self.buffer.pending()} events wait to be sent, and there is no room for more")

    def start_thread(self) -> None:
        """With the lock held. If the system has no thread left, that is an error now, and the next call tries again."""
        if self.thread is None:
            self.is_finished = False
            thread = threading.Thread(target=self.run, name=THREAD_NAME, daemon=True)
            thread.start()
            self.thread = thread

    # Waiting for events to be sent.

    @property
    def settled(self) -> int:
        return self.stored + self.failed

    def flush(self, seconds_max: Optional[float]) -> bool:
        """Whether all events that were recorded since the last flush are stored. Returns at the latest after ``seconds_max``."""
        with self.changed:
            target, told_lost = self.recorded, self.told_lost
            if self.buffer.pending() and not self.is_closing:
                self.start_thread()
            self.send_now(lambda: self.settled >= target or self.is_finished, seconds_max)
            return self.is_whole(self.settled >= target, told_lost)

    def close(self, seconds_max: Optional[float]) -> bool:
        """Flushes, and ends the thread. With a spool it does not wait for a server that does not respond."""
        with self.changed:
            self.is_closing, told_lost = True, self.told_lost
            if self.buffer.is_durable and self.not_before > time.monotonic():
                seconds_max = 0.0
            self.send_now(lambda: self.thread is None, seconds_max)
            self.is_abandoned = True
            self.changed.notify_all()
            is_whole = self.is_whole(not self.buffer.pending(), told_lost)
            left = self.buffer.close()
            self.failed += len(left)
        RECORDERS.discard(self)
        error = NotSent("the client was closed before the event was stored")
        self.report([Result(None, error, entry.body) for entry in left])
        return is_whole

    def send_now(self, is_done: Callable[[], bool], seconds_max: Optional[float]) -> None:
        """Sends without waiting for more events. Returns when it is done, at the deadline, or if nothing may be sent before it.

        With the lock held.
        """
        self.flush_to = self.recorded
        self.paused_until = min(self.paused_until, self.not_before)
        self.changed.notify_all()
        if seconds_max is not None:
            seconds_max = min(seconds_max, threading.TIMEOUT_MAX)
        ends_at = float("inf") if seconds_max is None else time.monotonic() + seconds_max
        self.changed.wait_for(lambda: is_done() or self.not_before >= ends_at, seconds_max)

    def is_whole(self, is_settled: bool, told_lost: int) -> bool:
        """Whether nothing is left, and nothing was lost since the last flush, as it was when this one began. With the lock held."""
        self.told_lost = self.failed + self.dropped + self.invalid
        return is_settled and self.told_lost == told_lost

    def stats(self) -> Stats:
        with self.changed:
            recorded, failed = self.recorded + self.invalid, self.failed + self.invalid
            return Stats(recorded, self.stored, failed, self.dropped, self.buffer.pending(), self.middleware_errors)

    def note_middleware_error(self) -> None:
        with self.changed:
            self.middleware_errors += 1

    # The thread.

    def run(self) -> None:
        transport = Transport(self.settings)
        try:
            while self.wait_until_due():
                with self.changed:
                    batch = [] if self.is_abandoned else self.buffer.peek()
                if batch:
                    self.deliver(transport, batch)
                else:
                    # Events that were counted cannot be read any more. The next process counts again.
                    self.pause(SpoolError("the events of the spool cannot be read"))
        except Exception:
            # The next event starts another one.
            LOGGER.exception("the thread that sends events has ended")
        finally:
            transport.close()
            with self.changed:
                self.is_finished = True
                self.thread = None
                self.changed.notify_all()

    def wait_until_due(self) -> bool:
        """Waits for a batch. False at the end."""
        with self.changed:
            while True:
                if self.is_abandoned or (self.is_closing and not self.buffer.pending()):
                    return False
                wait = self.seconds_until_due()
                if wait is not None and wait <= 0:
                    return True
                self.changed.wait(wait)

    def seconds_until_due(self) -> Optional[float]:
        pending, now = self.buffer.pending(), time.monotonic()
        if not pending:
            return None
        if self.paused_until > now:
            return self.paused_until - now
        if pending >= self.options.batch_events or self.flush_to > self.settled:
            return 0.0
        return self.first_at + self.options.flush_interval_seconds - now

    def deliver(self, transport: Transport, batch: List[Entry]) -> bool:
        """Sends a batch and settles its events. False if they have to wait."""
        started_at = time.monotonic()

        def parse(status: int, headers: Mapping[str, str], body: bytes) -> List[Outcome]:
            return outcomes_of(json_of(status, headers, body), len(batch))

        try:
            outcomes = transport.send(Call("POST", self.path, body=body_of(batch), in_environment=True), parse, self.sleep)
        except AuditError as error:
            if len(batch) > 1 and concerns_request(error):
                half = len(batch) // 2
                return self.deliver(transport, batch[:half]) and self.deliver(transport, batch[half:])
            if isinstance(error, NotSent) or self.options.keeps(error):
                self.pause(error)
                return False
            self.settle(batch, [error] * len(batch), started_at)
        else:
            self.settle(batch, outcomes, started_at)
        return True

    def sleep(self, seconds: float, error: AuditError) -> None:
        """Waits before the next attempt."""
        with self.changed:
            self.note_failure(error)
            if self.changed.wait_for(lambda: self.is_abandoned, seconds):
                raise NotSent("the client was closed before the event was sent")

    def note_failure(self, error: AuditError) -> None:
        """Nothing is sent before the ``Retry-After`` of a failed attempt. With the lock held."""
        now = time.monotonic()
        if self.failing_since is None:
            self.failing_since = now
        self.not_before = now + self.settings.retry.told(error)
        self.changed.notify_all()

    def pause(self, error: AuditError) -> None:
        retry, now = self.settings.retry, time.monotonic()
        with self.changed:
            if self.is_closing and self.buffer.is_durable:
                # The spool keeps the events. Waiting for the server would only hold up the end of the process.
                self.is_abandoned = True
            if self.is_abandoned:
                return
            self.note_failure(error)
            self.failed_sends += 1
            seconds = retry.pause(self.failed_sends, error)
            if self.is_closing:
                seconds = max(min(seconds, CLOSING_PAUSE_SECONDS_MAX), retry.told(error))
            self.paused_until = now + seconds
            pending = self.buffer.pending()
        LOGGER.warning("%d events wait, next attempt in %.1f s: %s", pending, seconds, error)

    def settle(self, batch: List[Entry], outcomes: Sequence[Union[str, AuditError]], started_at: float) -> None:
        results = [
            Result(None, outcome, entry.body) if isinstance(outcome, AuditError) else Result(outcome, None, entry.body)
            for entry, outcome in zip(batch, outcomes)
        ]
        failed = sum(result.error is not None for result in results)
        with self.changed:
            if self.is_abandoned:
                # The client reported these events as pending, and the next process may have the spool.
                return
            self.buffer.advance(batch)
            self.stored += len(results) - failed
            self.failed += failed
            self.failed_sends, self.failing_since = 0, None
            # Events that are left came while this batch was sent.
            self.first_at = started_at
            self.changed.notify_all()
        self.report(results)

    def report(self, results: List[Result]) -> None:
        if self.options.on_result is None:
            errors = collections.Counter(str(result.error) for result in results if result.error is not None)
            for error, count in errors.items():
                LOGGER.error("%d events were not stored: %s", count, error)
            return
        for result in results:
            try:
                self.options.on_result(result)
            except Exception:
                LOGGER.exception("on_result raised an error")


def readable(event: Mapping[str, Any]) -> bytes:
    """JSON for the report of an event that cannot be written as JSON, or not as an event."""
    if isinstance(event, Mapping):
        try:
            return json.dumps(dict(event), default=repr, skipkeys=True).encode()
        except (ValueError, RecursionError):
            pass
    return json.dumps({"event": repr(event)}).encode()


RECORDERS: "weakref.WeakSet[Recorder]" = weakref.WeakSet()


def close_all() -> None:
    for recorder in list(RECORDERS):
        recorder.close(EXIT_SECONDS_MAX)


def reset_all() -> None:
    for recorder in list(RECORDERS):
        recorder.after_fork()


atexit.register(close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=reset_all)
