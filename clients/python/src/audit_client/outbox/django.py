"""The outbox with Django: :func:`record` within ``transaction.atomic()``.

Create the table by a migration: ``migrations.RunSQL(outbox.POSTGRESQL, "DROP TABLE audit_outbox")``, or ``outbox.SQLITE``.
Relay in one process, for example by a command of ``manage.py``::

    from audit_client.outbox import django as outbox

    class Command(BaseCommand):
        def handle(self, *args, **options):
            stop = threading.Event()
            signal.signal(signal.SIGTERM, lambda *_: stop.set())
            outbox.relay(client).run(stop)
"""

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.transaction import TransactionManagementError

from .._client import Client
from ..types import EventInput
from . import Relay
from . import record as record_on

__all__ = ["record", "relay"]


def record(event: EventInput, using: str = DEFAULT_DB_ALIAS) -> None:
    """Records an event in the current transaction of this database. Raises as ``outbox.record``, and outside of ``atomic``."""
    connection = connections[using]
    if not connection.in_atomic_block:
        raise TransactionManagementError("record the event within transaction.atomic(), with the change that it is about")
    record_on(connection, event, paramstyle="format")


def relay(client: Client, using: str = DEFAULT_DB_ALIAS, *, interval_seconds: float = 1.0) -> Relay:
    """The relay of this database. Use it in one thread, and outside of ``atomic``."""
    return Relay(client, lambda: connections[using], paramstyle="format", interval_seconds=interval_seconds)
