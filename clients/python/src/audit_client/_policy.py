"""When a request is attempted again, and how long the client waits. No I/O, no clock."""

import random
from dataclasses import dataclass
from typing import Any, Mapping, Optional

from .errors import ApiError, AuditError, NetworkError

#: The first attempt and two retries.
ATTEMPTS_MAX = 3
#: The events are at fault: invalid, used with other content, of a stream that has ended, too large.
REFUSAL_STATUSES = (400, 409, 410, 413, 422)


def check_number(name: str, value: float) -> None:
    """Refuses an option that is not a number of at least 0: a timer would fail on it, in the background."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
        raise ValueError(f"{name} must be a number of at least 0, not {value!r}")


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential backoff with jitter. All waits are in seconds."""

    #: Mean wait before the first retry; it doubles with each one.
    backoff_seconds: float = 0.5
    backoff_seconds_max: float = 30.0
    #: A longer ``Retry-After`` is not waited for.
    retry_after_seconds_max: float = 60.0

    def __post_init__(self) -> None:
        for name in ("backoff_seconds", "backoff_seconds_max", "retry_after_seconds_max"):
            check_number(name, getattr(self, name))

    def wait_before_retry(self, attempt: int, error: AuditError) -> Optional[float]:
        """Seconds to wait after the failed ``attempt`` (1, 2, …); ``None`` if there is no further one."""
        if attempt >= ATTEMPTS_MAX or not is_retryable(error):
            return None
        told = error.retry_after if isinstance(error, ApiError) else None
        if told is not None and told > self.retry_after_seconds_max:
            return None
        return max(self.backoff(attempt), told or 0.0)

    def backoff(self, attempt: int) -> float:
        """Between half and one and a half of the exponential wait: clients that failed together do not return together."""
        exponential = self.backoff_seconds * 2.0 ** min(attempt - 1, 32)
        return float(min(exponential, self.backoff_seconds_max) * random.uniform(0.5, 1.5))

    def pause(self, failures: int, error: AuditError) -> float:
        """Seconds before what failed ``failures`` times, each time with all attempts, is sent again."""
        least = min(0.001 * 2.0 ** min(failures, 10), max(self.backoff_seconds_max, 0.001))
        return max(self.backoff(failures + ATTEMPTS_MAX), self.told(error), least)

    def told(self, error: AuditError) -> float:
        """Seconds of ``Retry-After``, as far as they are waited for."""
        told = error.retry_after if isinstance(error, ApiError) else None
        return min(told or 0.0, self.retry_after_seconds_max)


def is_temporary(error: AuditError) -> bool:
    """Whether time can remove the cause: 5xx, 408, 429, and no or no readable response."""
    if not isinstance(error, ApiError):
        return isinstance(error, NetworkError)
    return error.status is not None and (error.status >= 500 or error.status in (408, 429))


def is_retryable(error: AuditError) -> bool:
    """Whether another attempt is made at once: not after a 429 that does not say when."""
    return is_temporary(error) and (getattr(error, "status", None) != 429 or getattr(error, "retry_after", None) is not None)


def concerns_events(error: AuditError) -> bool:
    """Whether the error is about the events themselves, so that sending them again cannot succeed.

    A key can be replaced (401, 403), an address corrected (3xx, 404), a setting of the client too (a 400 on ``project_id``). A
    response without a code is not one of the service but, for example, of a proxy that is configured wrongly; a 413 concerns the
    size of the request wherever it comes from.
    """
    if not isinstance(error, ApiError):
        return not isinstance(error, NetworkError)
    if error.status in (None, 413):
        return True
    if error.status == 400 and not any(names_events(detail) for detail in error.details):
        return False
    return error.status in REFUSAL_STATUSES and error.code is not None


def names_events(detail: Mapping[str, Any]) -> bool:
    """Whether a detail is about an event of the request's array (``[3].actor.id``), or about the array."""
    field = str(detail.get("field"))
    return field.startswith("[") or field == "body"


def concerns_request(error: AuditError) -> bool:
    """Whether the server could not read the request at all, so that its events may be valid one by one."""
    if not isinstance(error, ApiError):
        return False
    return error.status == 413 or (error.status == 400 and any(detail.get("field") == "body" for detail in error.details))
