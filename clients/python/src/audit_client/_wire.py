"""Requests and responses as values, shared by the two clients. No I/O."""

import dataclasses
import json
import math
import os
import uuid
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union, cast

from ._version import __version__
from .errors import ApiError, EventsRemoved, NetworkError
from .types import IngestResult

USER_AGENT = f"audit-server-client-python/{__version__}"
#: A larger response is not read. The largest of the service, a page of events, has about 1 MiB.
RESPONSE_BYTES_MAX = 64 * 1024 * 1024

Param = Union[str, int, bool, datetime, Sequence[str], None]
Params = Mapping[str, Union[Param, Mapping[str, Param]]]


@dataclass(frozen=True)
class Call:
    """One request of the API. ``path`` follows ``/api/v1``."""

    method: str
    path: str
    params: Dict[str, Union[str, List[str]]] = field(default_factory=dict)
    body: Optional[bytes] = None
    headers: Dict[str, str] = field(default_factory=dict)
    #: Whether a second execution does no harm, so that it may be retried when the outcome of the first is unknown.
    is_idempotent: bool = True
    #: Whether the request is about the events, alerts or log of one environment.
    in_environment: bool = False
    #: Seconds that the server may take longer than usual (``wait`` of the feed).
    extra_seconds: float = 0.0


def call(
    method: str,
    path: str,
    params: Optional[Params] = None,
    body: Optional[Mapping[str, Any]] = None,
    *,
    is_idempotent: bool = True,
    in_environment: bool = False,
    extra_seconds: float = 0.0,
) -> Call:
    """A call. Parameters and members of the body that are ``None`` are left out; see :data:`NULL`."""
    text = None
    if body is not None:
        text = encode({name: null_or(value) for name, value in body.items() if value is not None})
    return Call(method, path, query(params or {}), text, {}, is_idempotent, in_environment, extra_seconds)


def without_none(members: Any) -> Any:
    """The members of an object whose values are not ``None``. Anything else as it is."""
    if not isinstance(members, Mapping):
        return members
    return {name: value for name, value in members.items() if value is not None}


class Null:
    """The JSON value ``null`` in a body: lifts a restriction, where leaving the field out keeps it."""

    def __repr__(self) -> str:
        return "audit_client.NULL"


NULL = Null()


def null_or(value: Any) -> Any:
    return None if isinstance(value, Null) else value


def query(params: Params) -> Dict[str, Union[str, List[str]]]:
    """Parameters of a query string. A sequence is a parameter that is given several times, a mapping has one for each path."""
    texts: Dict[str, Union[str, List[str]]] = {}
    for name, value in params.items():
        if isinstance(value, Mapping):
            texts.update(query({f"{name}.{path}": member for path, member in value.items()}))
        elif value is not None:
            texts[name] = text_of(value) if isinstance(value, (str, int, datetime)) else list(value)
    return texts


def text_of(value: Union[str, int, bool, datetime]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return time_text(value) if isinstance(value, datetime) else str(value)


def time_text(time: datetime) -> str:
    """RFC 3339. A datetime without a time zone could mean any instant."""
    if time.tzinfo is None:
        raise ValueError("a datetime needs a time zone, for example datetime.now(timezone.utc)")
    return time.isoformat(timespec="milliseconds")


def encode(value: Any) -> bytes:
    """JSON. Raises ``TypeError`` or ``ValueError`` for what JSON cannot express: NaN, infinity, objects of other types.

    See :func:`plain`. A lone surrogate, half of a character that UTF-16 writes as two, becomes U+FFFD.
    """
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"), default=plain)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return well_formed(text).encode("utf-8")


def well_formed(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def plain(value: Any) -> Any:
    """A value of the standard library as JSON expresses it exactly: numbers of any precision are strings, sets are sorted lists."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return time_text(value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (Decimal, uuid.UUID)):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        # By their JSON, because members of different types have no order.
        return sorted(value, key=encode)
    if isinstance(value, Mapping):
        return dict(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {member.name: getattr(value, member.name) for member in dataclasses.fields(value)}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{type(value).__name__} is not JSON; convert it to a string or a number")


def retry_after(headers: Mapping[str, str]) -> Optional[float]:
    """Seconds of ``Retry-After``; ``None`` if it is absent, a date, or unreadable."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


#: For pages of proxies, and addresses of other programs.
NOT_OF_THE_SERVICE = "the response is not one of the service, but perhaps of a proxy"


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> ApiError:
    """The error of a response with another status than 2xx."""
    message, code, details, request_id = f"{NOT_OF_THE_SERVICE}: status {status}", None, None, headers.get("x-request-id")
    cursor = None
    try:
        parsed = json.loads(body)
        message, code = str(parsed["error"]["message"]), str(parsed["error"]["code"])
        details = [dict(detail) for detail in parsed["error"].get("details") or []]
        cursor = parsed["error"].get("cursor")
    except (ValueError, KeyError, TypeError, AttributeError):
        pass  # A proxy's page. The status says enough.
    kind = EventsRemoved if code == "events_removed" and isinstance(cursor, str) else ApiError
    error = kind(message, status=status, code=code, details=details, request_id=request_id, retry_after=retry_after(headers))
    if isinstance(error, EventsRemoved):
        error.cursor = str(cursor)
    return error


def json_of(status: int, headers: Mapping[str, str], body: bytes) -> Dict[str, Any]:
    """The object in a 2xx response."""
    if not 200 <= status < 300:
        raise error_of(status, headers, body)
    try:
        parsed = json.loads(body)
    except ValueError as error:
        raise NetworkError(f"{NOT_OF_THE_SERVICE}: status {status}, not JSON") from error
    if not isinstance(parsed, dict):
        raise NetworkError(f"the response with status {status} is not a JSON object")
    return parsed


def text_response(status: int, headers: Mapping[str, str], body: bytes) -> bytes:
    if not 200 <= status < 300:
        raise error_of(status, headers, body)
    return body


Outcome = Union[str, ApiError]


def outcomes_of(response: Mapping[str, Any], count: int) -> List[Outcome]:
    """For each of ``count`` events of an array its id or its error, in order.

    Raises :class:`NetworkError` if the response does not account for each event: nothing then says what was stored.
    """
    ids, errors = response.get("ids"), response.get("errors") or []
    try:
        refused = {int(entry["index"]): ApiError.of_entry(entry, response.get("request_id")) for entry in errors}
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise NetworkError("the response has errors that cannot be read") from error
    if not isinstance(ids, list) or len(ids) + len(refused) != count or any(not 0 <= index < count for index in refused):
        raise NetworkError(f"the response does not account for {count} events")
    stored = iter(ids)
    return [refused[index] if index in refused else str(next(stored)) for index in range(count)]


def ingest_result_of(count: int) -> Callable[[int, Mapping[str, str], bytes], IngestResult]:
    """Reads the response to ``count`` events."""

    def parse(status: int, headers: Mapping[str, str], body: bytes) -> IngestResult:
        result = json_of(status, headers, body)
        outcomes_of(result, count)
        return cast(IngestResult, result)

    return parse


def segment(text: str) -> str:
    """One step of a path. An id with other characters would name another path."""
    if not text or text in (".", "..") or any(not (letter.isascii() and (letter.isalnum() or letter in "_-.")) for letter in text):
        raise ValueError(f"{text!r} is not an id")
    return text


def split_url(base_url: str) -> str:
    """The base URL without ``/api/v1`` and slashes at its end, both of which users add or leave out."""
    url = base_url.rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"base_url must begin with http:// or https://, not {base_url!r}")
    return url[: -len("/api/v1")] if url.endswith("/api/v1") else url


def credential_headers(api_key: Optional[str], project_id: Optional[str]) -> Dict[str, str]:
    headers = {"User-Agent": USER_AGENT, "Accept": "application/json"}
    if api_key is not None:
        if not api_key.isascii() or not api_key.isprintable() or " " in api_key or not api_key:
            raise ValueError("api_key has characters that no key has; was it copied with white space around it?")
        headers["Authorization"] = f"Bearer {api_key}"
    if project_id is not None:
        headers["X-Project-Id"] = project_id
    return headers


def lower(headers: Any) -> Dict[str, str]:
    """Headers by their lower-case name."""
    pairs: List[Tuple[str, str]] = list(headers.items())
    return {name.lower(): value for name, value in pairs}
