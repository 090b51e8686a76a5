"""The outbox: a table of the application's database. An event that is recorded in it exists exactly when the transaction commits.

::

    from audit_client import outbox

    connection.execute("UPDATE invoices SET paid = 1 WHERE id = ?", (invoice_id,))
    outbox.record(connection, event)   # in the same transaction
    connection.commit()

    outbox.Relay(client, connect).run(stop)   # in one process

:func:`record` takes a DB-API connection (PEP 249); ``audit_client.outbox.sqlalchemy`` and ``audit_client.outbox.django`` take a
session and the current transaction. ``docs/outbox.md`` says when an outbox is better than a spool. The TypeScript and the Rust
client use the same table.

- A row is sent with the same bytes each time, idempotency key included. A relay that dies between the acknowledgement and the
  deletion repeats events, which the service recognises.
- Rows are deleted by their ids, not up to a position. Ids are given before the commit: a row may become visible after a higher id
  was sent.
- A row is sent only after, or together with, all visible rows before it. So relays that run at the same time repeat events but do
  not reorder them, and need no lock.
- A refused event is set aside with its error, and does not block those behind it. So is a row that is not exactly one JSON object.
"""

import collections
import functools
import json
import sys
import threading
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Callable, List, Mapping, Optional, Protocol, Sequence, Tuple

from .._buffer import REQUEST_EVENTS_MAX, Entry, body_of, checked_entry, first_of
from .._client import Client
from .._policy import check_number, concerns_events, concerns_request
from .._transport import LOGGER
from .._wire import Call, Outcome, json_of, outcomes_of
from ..errors import ApiError, AuditError, NotSent
from ..types import EventInput

__all__ = ["INSERT", "POSTGRESQL", "SQLITE", "Connection", "Relay", "Relayed", "Row", "record", "row_of"]

#: Creates the table on PostgreSQL: two statements.
POSTGRESQL = """\
CREATE TABLE audit_outbox (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    event TEXT NOT NULL,
    recorded_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    error TEXT
);
CREATE INDEX audit_outbox_waiting ON audit_outbox (id) WHERE error IS NULL;
"""
#: Creates the table on SQLite: two statements.
SQLITE = """\
CREATE TABLE audit_outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    event TEXT NOT NULL,
    recorded_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    error TEXT
);
CREATE INDEX audit_outbox_waiting ON audit_outbox (id) WHERE error IS NULL;
"""
#: Records an event: the members of a :class:`Row`, as named parameters.
INSERT = "INSERT INTO audit_outbox (tenant_id, idempotency_key, event) VALUES (:tenant_id, :idempotency_key, :event)"
OLDEST = f"SELECT id, event FROM audit_outbox WHERE error IS NULL ORDER BY id LIMIT {REQUEST_EVENTS_MAX}"

#: The error of a row that the service could not even count as one event.
NOT_AN_OBJECT = ApiError("event: must be exactly one JSON object", code="validation_error")

#: Waits so many seconds after a failed attempt, or raises.
Sleep = Callable[[float, AuditError], object]
#: Writes what became of the rows with these ids.
Settle = Callable[[List[int], List[Outcome]], "Relayed"]


class Connection(Protocol):
    """What is used of a DB-API connection (PEP 249)."""

    def cursor(self) -> Any: ...
    def commit(self) -> Any: ...
    def close(self) -> Any: ...


@dataclass(frozen=True)
class Row:
    """What a row of the table has of an event."""

    tenant_id: str
    idempotency_key: str
    #: The event as JSON.
    event: str


@dataclass(frozen=True)
class Relayed:
    """Counts of events: stored by the service, refused and set aside. ``has_more`` if more rows may wait.

    Rows that are not exactly one JSON object count as refused.
    """

    stored: int
    refused: int
    has_more: bool = False


def row_of(event: EventInput) -> Row:
    """Checks an event, and fixes its idempotency key and its time, as ``Client.record`` does.

    An event with a key of the caller gets no time: give it one, because it may be sent much later. Raises
    :class:`~audit_client.errors.InvalidEvent` for what JSON cannot express, and for what the service would refuse.
    """
    body = checked_entry(event).body
    made: Mapping[str, Any] = json.loads(body)
    return Row(made["tenant_id"], made["idempotency_key"], body.decode())


def record(connection: Any, event: EventInput, *, paramstyle: Optional[str] = None) -> None:
    """Records an event in the current transaction of a DB-API connection. Does not commit.

    ``paramstyle`` is that of the driver: ``qmark``, ``format`` or ``pyformat``. Give it for a connection that is wrapped.
    In autocommit mode the event is recorded by itself. Raises as :func:`row_of`, and what the driver raises: roll back then.
    """
    marker = marker_of(connection, paramstyle)
    row = row_of(event)
    sql = f"INSERT INTO audit_outbox (tenant_id, idempotency_key, event) VALUES ({marker}, {marker}, {marker})"
    with closing(connection.cursor()) as cursor:
        cursor.execute(sql, (row.tenant_id, row.idempotency_key, row.event))


def marker_of(connection: Any, paramstyle: Optional[str]) -> str:
    """How a parameter is written: by the module of the connection, unless the caller says it."""
    module = sys.modules.get(type(connection).__module__.partition(".")[0])
    style = paramstyle or getattr(module, "paramstyle", None)
    markers = {"qmark": "?", "format": "%s", "pyformat": "%s"}
    if style not in markers:
        raise ValueError(f"paramstyle must be qmark, format or pyformat, not {style!r}, for a {type(connection).__name__}")
    return markers[style]


def is_object(event: str) -> bool:
    """Whether a text is one event, however invalid. Any other would make the array another one than the rows."""
    try:
        return isinstance(json.loads(event), dict)
    except (ValueError, RecursionError):
        return False


class Relay:
    """Sends the events of an outbox, and deletes their rows after the service has acknowledged them. Use it in one thread.

    ``connect`` makes a DB-API connection, or takes one from a pool; the relay commits on it and closes it. No transaction is open
    while events are sent. Several relays do no harm, but each sends every event.
    """

    def __init__(
        self,
        client: Client,
        connect: Callable[[], Connection],
        *,
        paramstyle: Optional[str] = None,
        interval_seconds: float = 1.0,
    ) -> None:
        check_number("interval_seconds", interval_seconds)
        self.client = client
        self.connect = connect
        self.paramstyle = paramstyle
        self.interval_seconds = interval_seconds

    def run(self, stop: threading.Event) -> None:
        """Sends until ``stop`` is set. Looks for rows every ``interval_seconds``, and at once while there are more.

        During an outage of the service or of the database the rows wait, in order, and are sent again after pauses that grow to
        30 s; each is a warning of the logger ``audit_client``. A refused event is an error of that logger.
        """

        def sleep(seconds: float, _: AuditError) -> None:
            if stop.wait(seconds):
                raise NotSent("the relay was stopped before the events were sent")

        failures = 0
        while not stop.is_set():
            try:
                with closing(self.connect()) as connection:
                    while not stop.is_set():
                        has_more = self.relay_oldest(connection, sleep).has_more
                        failures = 0
                        if not has_more:
                            stop.wait(self.interval_seconds)
            except Exception as error:
                if stop.is_set():
                    return
                failures += 1
                cause = error if isinstance(error, AuditError) else AuditError(f"{type(error).__name__}: {error}")
                seconds = self.client._settings.retry.pause(failures, cause)
                LOGGER.warning("the outbox waits, next attempt in %.1f s: %s", seconds, cause, exc_info=cause is not error)
                stop.wait(seconds)

    def run_once(self) -> Relayed:
        """Sends the oldest rows in one request. Raises what :meth:`run` waits for: the rows wait for the next call."""
        with closing(self.connect()) as connection:
            return self.relay_oldest(connection, None)

    def relay_oldest(self, connection: Connection, sleep: Optional[Sleep]) -> Relayed:
        # A style that is not known is an error before anything is sent.
        marker = marker_of(connection, self.paramstyle)
        settle = functools.partial(self.settle, connection, marker)
        with closing(connection.cursor()) as cursor:
            cursor.execute(OLDEST)
            rows = [(int(id), str(event)) for id, event in cursor.fetchall()]
        connection.commit()
        unreadable = [id for id, event in rows if not is_object(event)]
        set_aside = settle(unreadable, [NOT_AN_OBJECT] * len(unreadable)) if unreadable else Relayed(0, 0)
        events = [(id, Entry(event.encode())) for id, event in rows if id not in unreadable]
        sent = events[: len(first_of(collections.deque(entry for _, entry in events)))]
        relayed = self.relay_rows(sent, settle, sleep) if sent else Relayed(0, 0)
        has_more = len(events) > len(sent) or len(rows) >= REQUEST_EVENTS_MAX
        return Relayed(relayed.stored, relayed.refused + set_aside.refused, has_more)

    def relay_rows(self, rows: Sequence[Tuple[int, Entry]], settle: Settle, sleep: Optional[Sleep]) -> Relayed:
        """Sends rows and settles them. An error leaves the rest as it is."""
        body = body_of([entry for _, entry in rows])

        def parse(status: int, headers: Mapping[str, str], response: bytes) -> List[Outcome]:
            return outcomes_of(json_of(status, headers, response), len(rows))

        call = Call("POST", self.client._ingest_path, body=body, in_environment=True)
        try:
            outcomes = self.client._transport.send(call, parse, sleep)
        except ApiError as error:
            if len(rows) > 1 and concerns_request(error):
                half = len(rows) // 2
                first = self.relay_rows(rows[:half], settle, sleep)
                second = self.relay_rows(rows[half:], settle, sleep)
                return Relayed(first.stored + second.stored, first.refused + second.refused)
            if not concerns_events(error):
                raise
            outcomes = [error] * len(rows)
        return settle([id for id, _ in rows], outcomes)

    def settle(self, connection: Connection, marker: str, ids: List[int], outcomes: List[Outcome]) -> Relayed:
        refused = [(id, outcome) for id, outcome in zip(ids, outcomes) if isinstance(outcome, ApiError)]
        stored = [id for id, outcome in zip(ids, outcomes) if not isinstance(outcome, ApiError)]
        with closing(connection.cursor()) as cursor:
            for id, error in refused:
                LOGGER.error("event %d of the outbox was refused and is set aside: %s", id, error)
                # PostgreSQL has no NUL, and the error may quote one of the event.
                text = str(error).replace("\0", "\N{REPLACEMENT CHARACTER}")
                cursor.execute(f"UPDATE audit_outbox SET error = {marker} WHERE id = {marker}", (text, id))
            if stored:
                cursor.execute(f"DELETE FROM audit_outbox WHERE id IN ({', '.join(map(str, stored))})")
        connection.commit()
        return Relayed(len(stored), len(refused))
