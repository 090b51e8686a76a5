"""The clients: one for threads, one for asyncio."""

import asyncio
import os
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Callable, Mapping, Optional, Type, Union

from ._async import administration as async_administration
from ._async import alerts as async_alerts
from ._async import destinations as async_destinations
from ._async import erasures as async_erasures
from ._async import events as async_events
from ._async import retention as async_retention
from ._buffer import Entry
from ._policy import RetryPolicy, check_number
from ._recorder import Overflow, Recorder, Recording, Result, Stats
from ._sync import administration as sync_administration
from ._sync import alerts as sync_alerts
from ._sync import destinations as sync_destinations
from ._sync import erasures as sync_erasures
from ._sync import events as sync_events
from ._sync import retention as sync_retention
from ._transport import AsyncTransport, Settings, Transport
from ._wire import credential_headers, split_url
from .spool import Spool
from .types import Environment, EventInput

#: Seconds that flush and close take at most, unless the caller says otherwise.
FLUSH_SECONDS_MAX = 30.0


class _Base:
    """The options that both clients have, and recording."""

    def __init__(
        self,
        base_url: str,
        api_key: Optional[str] = None,
        *,
        stream: bool = False,
        claim_token: Optional[str] = None,
        project_id: Optional[str] = None,
        environment: Optional[Environment] = None,
        timeout_seconds: float = 30.0,
        retry: Optional[RetryPolicy] = None,
        batch_events: int = 10,
        flush_interval_seconds: float = 5.0,
        queue_events_max: int = 1000,
        overflow: Overflow = "block",
        block_seconds_max: float = 30.0,
        spool: Union[Spool, str, "os.PathLike[str]", None] = None,
        keep_unauthorized: Optional[bool] = None,
        on_result: Optional[Callable[[Result], None]] = None,
        raise_invalid: bool = False,
        http_options: Optional[Mapping[str, Any]] = None,
    ) -> None:
        if stream == (api_key is not None):
            raise ValueError("pass either an api_key, or stream=True to send to an anonymous stream")
        if claim_token is not None and not stream:
            raise ValueError("claim_token is for stream=True")
        if stream and spool is not None and claim_token is None:
            # The events that one process leaves in the spool would go to the stream of the next one.
            raise ValueError("a spool with stream=True needs a claim_token that stays the same")
        #: The token of the anonymous stream; ``None`` unless ``stream`` is set. Whoever has it can claim the stream.
        self.claim_token: Optional[str] = claim_token_of(claim_token) if stream else None
        self._ingest_path = f"/streams/{self.claim_token}/events" if stream else "/events"
        self._settings = Settings(
            base_url=split_url(base_url),
            headers=credential_headers(api_key, project_id),
            timeout_seconds=timeout_seconds,
            retry=retry or RetryPolicy(),
            environment=environment,
            http_options=http_options or {},
        )
        options = Recording(
            batch_events=batch_events,
            flush_interval_seconds=flush_interval_seconds,
            queue_events_max=queue_events_max,
            overflow=overflow,
            block_seconds_max=block_seconds_max,
            spool=spool if spool is None or isinstance(spool, Spool) else Spool(spool),
            keep_unauthorized=keep_unauthorized,
            on_result=on_result,
            raise_invalid=raise_invalid,
        )
        check_number("timeout_seconds", timeout_seconds)
        self._connect()
        self._recorder = Recorder(self._settings, self._ingest_path, options)

    def _connect(self) -> None:
        """Makes the transport and the resources."""
        raise NotImplementedError

    def stats(self) -> Stats:
        """Counts of the events that were given to :meth:`record`."""
        return self._recorder.stats()

    def note_middleware_error(self) -> None:
        """Counts an error that a middleware has reported."""
        self._recorder.note_middleware_error()


def claim_token_of(text: Optional[str]) -> str:
    if text is None:
        return str(uuid.uuid4())
    try:
        is_version_4 = uuid.UUID(text).version == 4
    except (ValueError, AttributeError):
        is_version_4 = False
    if not is_version_4:
        raise ValueError("claim_token must be a UUID of version 4")
    return text


class Client(_Base):
    """The client for threads. It may be shared by any number of them; make one for each process, not one for each event.

    ``record`` returns at once, unless the queue is full: one background thread sends the events in batches. Everything else
    is a request.
    """

    def _connect(self) -> None:
        transport = Transport(self._settings)
        self._transport = transport
        self.events = sync_events.Events(transport, self._ingest_path)
        self.log = sync_events.Log(transport)
        self.alerts = sync_alerts.Alerts(transport)
        self.alert_rules = sync_alerts.AlertRules(transport)
        self.webhooks = sync_alerts.Webhooks(transport)
        self.destinations = sync_destinations.Destinations(transport)
        self.retention = sync_retention.Retention(transport)
        self.holds = sync_retention.Holds(transport)
        self.erasures = sync_erasures.Erasures(transport)
        self.projects = sync_administration.Projects(transport)
        self.keys = sync_administration.Keys(transport)
        self.master_keys = sync_administration.MasterKeys(transport)
        self.redaction_rules = sync_administration.RedactionRules(transport)
        self.portal = sync_administration.Portal(transport)
        self.actions = sync_administration.Actions(transport)
        self.viewer_tokens = sync_administration.ViewerTokens(transport)
        self.viewer_tiers = sync_administration.ViewerTiers(transport)
        self.streams = sync_administration.Streams(transport)

    def record(self, event: EventInput, *, overflow: Optional[Overflow] = None) -> bool:
        """Takes an event to be sent in the background. Returns when it is in the queue, or on the disk with a spool.

        ``False`` if there was no room and ``overflow`` is ``drop_newest``, and for an event that the service would refuse: this
        is reported at once, as an :class:`InvalidEvent`, and raised only with ``raise_invalid``, which is for development and
        tests. Raises :class:`QueueFull` if there was no room and ``overflow`` is ``error``, or ``block`` and there was none
        for ``block_seconds_max``; :class:`SpoolError` if the spool cannot be written; :class:`ClientClosed` after
        :meth:`close`. What the server says is reported to ``on_result``, and logged as an error of the logger
        ``audit_client`` if there is none.

        Values of ``metadata`` and ``changes`` may be those of the standard library: decimals and UUIDs become strings, dates
        and times ISO 8601, sets sorted lists, dataclasses objects.
        """
        return self._recorder.record(event, overflow)

    def flush(self, seconds_max: Optional[float] = FLUSH_SECONDS_MAX) -> bool:
        """Sends what waits. ``True`` if every event that was recorded since the last flush is stored.

        ``False`` if one was refused or dropped, or still waits after ``seconds_max``; it is sent later. With a longer
        ``Retry-After`` it returns at once.
        """
        return self._recorder.flush(seconds_max)

    def close(self, seconds_max: Optional[float] = FLUSH_SECONDS_MAX) -> bool:
        """Flushes and ends the client, with the same result. Events that remain stay in a spool or are :class:`NotSent`."""
        is_done = self._recorder.close(seconds_max)
        self._transport.close()
        return is_done

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()


class AsyncClient(_Base):
    """The client for asyncio. Events are sent by the same background thread as those of :class:`Client`.

    So a busy event loop does not delay them, and a slow server or disk does not delay the event loop.
    """

    def _connect(self) -> None:
        transport = AsyncTransport(self._settings)
        self._transport = transport
        self._waiting: Optional[ThreadPoolExecutor] = None
        #: The process that has made its thread. The child of a fork has the executor, which counts on a thread that is not there.
        self._waiting_in = 0
        self.events = async_events.AsyncEvents(transport, self._ingest_path)
        self.log = async_events.AsyncLog(transport)
        self.alerts = async_alerts.AsyncAlerts(transport)
        self.alert_rules = async_alerts.AsyncAlertRules(transport)
        self.webhooks = async_alerts.AsyncWebhooks(transport)
        self.destinations = async_destinations.AsyncDestinations(transport)
        self.retention = async_retention.AsyncRetention(transport)
        self.holds = async_retention.AsyncHolds(transport)
        self.erasures = async_erasures.AsyncErasures(transport)
        self.projects = async_administration.AsyncProjects(transport)
        self.keys = async_administration.AsyncKeys(transport)
        self.master_keys = async_administration.AsyncMasterKeys(transport)
        self.redaction_rules = async_administration.AsyncRedactionRules(transport)
        self.portal = async_administration.AsyncPortal(transport)
        self.actions = async_administration.AsyncActions(transport)
        self.viewer_tokens = async_administration.AsyncViewerTokens(transport)
        self.viewer_tiers = async_administration.AsyncViewerTiers(transport)
        self.streams = async_administration.AsyncStreams(transport)

    async def record(self, event: EventInput, *, overflow: Optional[Overflow] = None) -> bool:
        """As :meth:`Client.record`. Waits for the disk or for room in another thread."""
        recorder = self._recorder
        if recorder.options.spool is not None:
            return await asyncio.to_thread(recorder.record, event, overflow)
        if (overflow or recorder.options.overflow) != "block":
            return recorder.record(event, overflow)
        entry = recorder.entry_of(event)
        if entry is None:
            return False
        return recorder.record_if_room(entry) or await self._record_when_room(entry)

    async def _record_when_room(self, entry: Entry) -> bool:
        """In a thread of the client's own: waiting calls would otherwise occupy all threads of the event loop's pool."""
        ends_at = time.monotonic() + self._recorder.options.block_seconds_max

        def record() -> bool:
            return self._recorder.record_entry(entry, "block", max(0.0, ends_at - time.monotonic()))

        if self._waiting is None or self._waiting_in != os.getpid():
            self._waiting, self._waiting_in = ThreadPoolExecutor(1, "audit-client-waiting"), os.getpid()
        return await asyncio.get_running_loop().run_in_executor(self._waiting, record)

    async def flush(self, seconds_max: Optional[float] = FLUSH_SECONDS_MAX) -> bool:
        """As :meth:`Client.flush`."""
        return await asyncio.to_thread(self._recorder.flush, seconds_max)

    async def close(self, seconds_max: Optional[float] = FLUSH_SECONDS_MAX) -> bool:
        """As :meth:`Client.close`."""
        is_done = await asyncio.to_thread(self._recorder.close, seconds_max)
        if self._waiting is not None:
            # Its calls end now, because the recorder is closed.
            self._waiting.shutdown(wait=False)
        await self._transport.close()
        return is_done

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()
