"""Sends calls with httpx: the time limit, the size limit and the retries of one request. Once for threads, once for asyncio."""

import asyncio
import codecs
import functools
import logging
import os
import ssl
import time
import weakref
from dataclasses import dataclass, field
from typing import Any, AsyncIterator, Callable, Dict, Iterator, Mapping, Optional, Tuple, TypeVar, Union

import httpx

from ._policy import RetryPolicy, is_temporary
from ._wire import RESPONSE_BYTES_MAX, Call, error_of, lower
from .errors import ApiError, AuditError, NetworkError, NotConnected

#: Loaded now, and not with the first connection. The child of a fork at that moment waits for the lock of the import without end.
codecs.lookup("idna")

LOGGER = logging.getLogger("audit_client")
T = TypeVar("T")
#: Of an export. An event has 64 KiB at most, and about four times that if every letter of it is escaped.
LINE_BYTES_MAX = 1024 * 1024
#: Turns status, headers and body of a response into a result, or raises.
Parse = Callable[[int, Mapping[str, str], bytes], T]


@dataclass(frozen=True)
class Settings:
    """Where requests go and with what."""

    #: Without ``/api/v1``.
    base_url: str
    headers: Dict[str, str]
    timeout_seconds: float
    retry: RetryPolicy
    #: `live` or `test`, for master keys.
    environment: Optional[str] = None
    #: Arguments of ``httpx.Client``, such as ``verify``, ``proxy``, ``transport``.
    http_options: Mapping[str, Any] = field(default_factory=dict)

    def url(self, call: Call) -> str:
        return f"{self.base_url}/api/v1{call.path}"

    def request_headers(self, call: Call) -> Dict[str, str]:
        headers = {**self.headers, **call.headers}
        if call.body is not None:
            headers["Content-Type"] = "application/json"
        return headers

    def arguments(self, call: Call) -> Dict[str, Any]:
        params = dict(call.params)
        if call.in_environment and self.environment is not None:
            params["environment"] = self.environment
        return {
            "params": params,
            "content": call.body,
            "headers": self.request_headers(call),
            "timeout": self.timeout_seconds + call.extra_seconds,
        }

    def client_arguments(self) -> Dict[str, Any]:
        # A redirect would send the key and the events to whatever address the response names.
        arguments = {**self.http_options, "follow_redirects": False}
        if "transport" in arguments:
            return arguments
        arguments.pop("cert", None)
        return {**arguments, "verify": self.tls}

    @functools.cached_property
    def tls(self) -> ssl.SSLContext:
        """Made once, with the client. OpenSSL takes locks for it; the child of a fork at that moment waits for them without end."""
        names = ("verify", "cert", "trust_env")
        return httpx.create_ssl_context(**{name: self.http_options[name] for name in names if name in self.http_options})

    def wait_before_retry(self, call: Call, attempt: int, error: AuditError) -> Optional[float]:
        is_known_unsent = isinstance(error, NotConnected) or (isinstance(error, ApiError) and error.status == 429)
        if not call.is_idempotent and not is_known_unsent:
            return None
        return self.retry.wait_before_retry(attempt, error)

    def pause_in_outage(self, failures: int, error: AuditError) -> float:
        """Seconds until a request that is sent through outages is sent again. Raises an error that waiting does not remove."""
        if not is_temporary(error):
            raise error
        seconds = self.retry.pause(failures, error)
        LOGGER.warning("the feed waits, next attempt in %.1f s: %s", seconds, error)
        return seconds


def network_error(error: httpx.HTTPError, base_url: str) -> NetworkError:
    kind = NotConnected if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)) else NetworkError
    # Without the path, which can have the token of a stream.
    return kind(f"no response of {base_url}: " + (f"{type(error).__name__}: {error}" if str(error) else type(error).__name__))


class Body:
    """Collects the body of a response within the limits. httpx limits the time of each read, not of all together."""

    def __init__(self, seconds_max: float) -> None:
        self.deadline = time.monotonic() + seconds_max
        self.parts = bytearray()

    def add(self, part: bytes) -> None:
        self.parts += part
        if len(self.parts) > RESPONSE_BYTES_MAX:
            raise NetworkError(f"the response has more than {RESPONSE_BYTES_MAX} bytes")
        if time.monotonic() > self.deadline:
            raise NetworkError("the response took longer than the timeout")


#: The child of a fork makes new connections: on those of its parent, both would read each other's responses.
TRANSPORTS: "weakref.WeakSet[Union[Transport, AsyncTransport]]" = weakref.WeakSet()


def forget_connections() -> None:
    for transport in list(TRANSPORTS):
        transport.made = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_connections)


class Transport:
    """For threads. Its connections may be shared by them."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.made: Optional[httpx.Client] = httpx.Client(**settings.client_arguments())
        TRANSPORTS.add(self)

    @property
    def http(self) -> httpx.Client:
        if self.made is None:
            self.made = httpx.Client(**self.settings.client_arguments())
        return self.made

    def attempt(self, call: Call, parse: "Parse[T]") -> T:
        """One request, without retries."""
        arguments = self.settings.arguments(call)
        body = Body(arguments["timeout"])
        try:
            with self.http.stream(call.method, self.settings.url(call), **arguments) as response:
                for part in response.iter_bytes():
                    body.add(part)
        except httpx.HTTPError as error:
            raise network_error(error, self.settings.base_url) from error
        return parse(response.status_code, lower(response.headers), bytes(body.parts))

    def send(self, call: Call, parse: "Parse[T]", sleep: Optional[Callable[[float, AuditError], object]] = None) -> T:
        """A request with retries. ``sleep`` waits after the failed attempt with this error."""
        attempt = 1
        while True:
            try:
                return self.attempt(call, parse)
            except AuditError as error:
                wait = self.settings.wait_before_retry(call, attempt, error)
                if wait is None:
                    raise
                failure = error
            if sleep is None:
                time.sleep(wait)
            else:
                sleep(wait, failure)
            attempt += 1

    def send_through_outages(self, call: Call, parse: "Parse[T]") -> T:
        """A request that is sent until there is a response, or an error that waiting does not remove."""
        failures = 0
        while True:
            try:
                return self.send(call, parse)
            except AuditError as error:
                failures += 1
                pause = self.settings.pause_in_outage(failures, error)
            time.sleep(pause)

    def lines(self, call: Call) -> Iterator[bytes]:
        """The body of a response in pieces, however long it is. An interruption raises; there are no retries."""
        try:
            with self.http.stream(call.method, self.settings.url(call), **self.settings.arguments(call)) as response:
                if response.status_code != 200:
                    raise error_of(response.status_code, lower(response.headers), response.read())
                yield from split_lines(response.iter_bytes())
        except httpx.HTTPError as error:
            raise network_error(error, self.settings.base_url) from error

    def close(self) -> None:
        if self.made is not None:
            self.made.close()


class AsyncTransport:
    """For asyncio."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.made: Optional[httpx.AsyncClient] = httpx.AsyncClient(**settings.client_arguments())
        TRANSPORTS.add(self)

    @property
    def http(self) -> httpx.AsyncClient:
        if self.made is None:
            self.made = httpx.AsyncClient(**self.settings.client_arguments())
        return self.made

    async def attempt(self, call: Call, parse: "Parse[T]") -> T:
        """One request, without retries."""
        arguments = self.settings.arguments(call)
        body = Body(arguments["timeout"])
        try:
            async with self.http.stream(call.method, self.settings.url(call), **arguments) as response:
                async for part in response.aiter_bytes():
                    body.add(part)
        except httpx.HTTPError as error:
            raise network_error(error, self.settings.base_url) from error
        return parse(response.status_code, lower(response.headers), bytes(body.parts))

    async def send(self, call: Call, parse: "Parse[T]") -> T:
        """A request with retries."""
        attempt = 1
        while True:
            try:
                return await self.attempt(call, parse)
            except AuditError as error:
                wait = self.settings.wait_before_retry(call, attempt, error)
                if wait is None:
                    raise
            await asyncio.sleep(wait)
            attempt += 1

    async def send_through_outages(self, call: Call, parse: "Parse[T]") -> T:
        """A request that is sent until there is a response, or an error that waiting does not remove."""
        failures = 0
        while True:
            try:
                return await self.send(call, parse)
            except AuditError as error:
                failures += 1
                pause = self.settings.pause_in_outage(failures, error)
            await asyncio.sleep(pause)

    async def lines(self, call: Call) -> AsyncIterator[bytes]:
        """The body of a response in pieces, however long it is. An interruption raises; there are no retries."""
        rest = b""
        try:
            async with self.http.stream(call.method, self.settings.url(call), **self.settings.arguments(call)) as response:
                if response.status_code != 200:
                    raise error_of(response.status_code, lower(response.headers), await response.aread())
                async for part in response.aiter_bytes():
                    lines, rest = cut(rest + part)
                    for line in lines:
                        yield line
        except httpx.HTTPError as error:
            raise network_error(error, self.settings.base_url) from error
        if rest:
            yield rest

    async def close(self) -> None:
        if self.made is not None:
            await self.made.aclose()


def split_lines(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Lines with their line feed."""
    rest = b""
    for part in parts:
        lines, rest = cut(rest + part)
        yield from lines
    if rest:
        yield rest


def cut(text: bytes) -> Tuple[Any, bytes]:
    """The whole lines of a text, and what follows the last one."""
    lines = text.split(b"\n")
    rest = lines.pop()
    if len(rest) > LINE_BYTES_MAX:
        raise NetworkError(f"the response has a line of more than {LINE_BYTES_MAX} bytes")
    return [line + b"\n" for line in lines], rest
