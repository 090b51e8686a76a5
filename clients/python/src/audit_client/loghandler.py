"""A handler for :mod:`logging` that records audit events, and loses none that the client takes.

::

    handler = AuditHandler(audit, defaults={"tenant_id": "acme", "category": "system"})
    logging.getLogger("shop").addHandler(handler)
    logger.info("user created", extra={"audit": {"action": "user.created", "actor": {"id": "user_1", "type": "user"}}})
"""

import logging
import threading
from typing import Any, Callable, Dict, Mapping, Optional, cast

from ._buffer import checked_entry
from ._client import Client
from ._recorder import THREAD_NAME
from .types import EventInput

#: The message of a record is cut here; the server refuses events of more than 64 KiB.
MESSAGE_CHARS_MAX = 8192


class AuditHandler(logging.Handler):
    """Records the log records that have ``extra={"audit": {…}}``, an event or the part of one that ``defaults`` lacks.

    Other records are ignored, unless ``event_of`` makes an event of a record; it returns ``None`` for those that are none. The
    event's ``metadata`` gets the message, the logger and the level.

    A full queue makes the caller wait (``block_seconds_max`` of the client). An event that cannot be recorded is counted in
    ``failures`` and goes to ``handleError``, which prints it; with ``raise_errors`` the error reaches the caller.
    """

    def __init__(
        self,
        client: Client,
        *,
        defaults: Optional[Mapping[str, Any]] = None,
        event_of: Optional[Callable[[logging.LogRecord], Optional[EventInput]]] = None,
        raise_errors: bool = False,
        level: int = logging.NOTSET,
    ) -> None:
        super().__init__(level)
        self.client = client
        self.defaults = dict(defaults or {})
        self.event_of = event_of
        self.raise_errors = raise_errors
        #: Number of events that were not recorded.
        self.failures = 0

    def filter(self, record: logging.LogRecord) -> Any:
        """Refuses what the sending of events logs: it would become an event, whose sending would be logged.

        Here and not in ``emit``, because the handler's lock is held there: by a thread that waits for the sending thread.
        """
        if threading.current_thread().name == THREAD_NAME or record.name.split(".")[0] == "audit_client":
            return False
        return super().filter(record)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            event = self.event(record)
            if event is not None:
                # Otherwise the client would only report it.
                checked_entry(event)
                self.client.record(event, overflow="block")
        except Exception:
            self.failures += 1
            if self.raise_errors:
                raise
            self.handleError(record)

    def event(self, record: logging.LogRecord) -> Optional[EventInput]:
        if self.event_of is not None:
            return self.event_of(record)
        given = getattr(record, "audit", None)
        if given is None:
            return None
        event: Dict[str, Any] = {**self.defaults, **given}
        logged = {"message": record.getMessage()[:MESSAGE_CHARS_MAX], "logger": record.name, "level": record.levelname}
        event["metadata"] = {**logged, **event.get("metadata", {})}
        return cast(EventInput, event)

    def flush(self) -> None:
        """Waits until the events are stored, at most as long as :meth:`Client.flush`. ``logging.shutdown`` calls it."""
        self.client.flush()
