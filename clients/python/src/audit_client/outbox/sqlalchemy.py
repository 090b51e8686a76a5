"""The outbox with SQLAlchemy 2: :func:`record` in a ``Session`` or on a ``Connection``.

::

    from audit_client.outbox import sqlalchemy as outbox

    with Session(engine) as session, session.begin():
        invoice.paid = True
        outbox.record(session, event)

    await async_session.run_sync(outbox.record, event)   # an AsyncSession

    outbox.relay(client, engine).run(stop)   # in one process
"""

from dataclasses import asdict
from typing import Union

from sqlalchemy import Connection, Engine, text
from sqlalchemy.orm import Session, scoped_session

from .._client import Client
from ..types import EventInput
from . import INSERT, Relay, row_of

__all__ = ["record", "relay"]

STATEMENT = text(INSERT)


def record(session: Union[Session, "scoped_session[Session]", Connection], event: EventInput) -> None:
    """Records an event in the current transaction, after the pending changes of a session. Raises as ``outbox.record``."""
    row = asdict(row_of(event))
    if not isinstance(session, Connection):
        # The locks of the changes then give the events of concurrent transactions their order.
        session.flush()
    session.execute(STATEMENT, row)


def relay(client: Client, engine: Engine, *, interval_seconds: float = 1.0) -> Relay:
    """The relay of an engine. It takes one connection of the pool."""
    return Relay(client, engine.raw_connection, paramstyle=engine.dialect.paramstyle, interval_seconds=interval_seconds)
