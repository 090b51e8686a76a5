"""The errors of this package. Every one is an :class:`AuditError`."""

from typing import Any, Dict, List, Mapping, Optional, Sequence


class AuditError(Exception):
    """Base class of all errors of this package."""


class ApiError(AuditError):
    """A response with an error status, or the refusal of one event of a batch.

    ``code`` is the ``error.code`` of the response (docs/api.md, "Errors"). It is ``None`` if the body is not the service's,
    for example that of a proxy. ``status`` is ``None`` for a refused event of a batch that was accepted otherwise.
    """

    def __init__(
        self,
        message: str,
        *,
        status: Optional[int] = None,
        code: Optional[str] = None,
        details: Optional[List[Dict[str, Any]]] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        #: For ``validation_error``: objects with ``field`` and ``message``, one for each invalid field.
        self.details: List[Dict[str, Any]] = details or []
        self.request_id = request_id
        #: Seconds of the header ``Retry-After``, if the response has it.
        self.retry_after = retry_after

    def __str__(self) -> str:
        parts = [f"{self.status} {self.code}" if self.status and self.code else str(self.code or self.status or "refused")]
        parts.append(self.message)
        parts += [f"{detail.get('field')}: {detail.get('message')}" for detail in self.details]
        text = ": ".join(parts[:2]) + "".join(f"; {detail}" for detail in parts[2:])
        return f"{text} ({self.request_id})" if self.request_id else text

    @classmethod
    def of_entry(cls, entry: Mapping[str, Any], request_id: Optional[str]) -> "ApiError":
        """The error of one event, from the ``errors`` of a partly accepted batch."""
        return cls(
            str(entry.get("message", "the event was refused")),
            code=entry.get("code"),
            details=entry.get("details"),
            request_id=request_id,
        )


class EventsRemoved(ApiError):
    """Retention has removed events behind the cursor of the feed before they were read (410 ``events_removed``).

    To go on without them, continue with :attr:`cursor`, which stands for the same position.
    """

    cursor: str


class NetworkError(AuditError):
    """No response came, or none that can be read: the outcome of the request is unknown."""


class NotConnected(NetworkError):
    """No connection was made, so the server has not seen the request."""


class InvalidEvent(AuditError, ValueError):
    """The service would refuse the event, or it cannot be written as JSON. It was not recorded.

    ``problems`` has a text for each invalid field, which begins with its name.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("the service would refuse the event: " + "; ".join(problems))
        self.problems = list(problems)


class QueueFull(AuditError):
    """The queue or the spool has no room, and the client was told to raise an error then."""


class ClientClosed(AuditError):
    """The client was closed and takes no more events."""


class NotSent(AuditError):
    """The client was closed before the event was sent."""


class SpoolError(AuditError):
    """The spool cannot be used or written. An event for which this error was raised is not recorded."""


class VerificationError(AuditError):
    """A proof, a signature or a message is not valid. Do not use what it was to prove."""
