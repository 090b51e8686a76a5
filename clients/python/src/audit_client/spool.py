"""The spool: a directory in which recorded events wait until the server has them.

Layout: ``<path>/<slot>/``, one slot for each process that uses the spool at the same time, held by a lock on its file ``lock``. A
slot has segments, ``0000000000000001.events``, …, and the file ``position``.

A segment is a sequence of lines: CRC-32 of the event in 8 hexadecimal digits, a space, the event as JSON, a line feed. ``position``
has the number of a segment and an offset in it: everything before is settled. It is written without waiting for the disk: if it is
lost, settled events are sent again, and the server recognises them by their idempotency keys.
"""

import binascii
import collections
import logging
import os
import threading
from pathlib import Path
from typing import BinaryIO, Deque, List, Optional, Tuple, Union

from ._buffer import Buffer, Entry, first_of
from ._lock import FileLock
from .errors import SpoolError

LOGGER = logging.getLogger("audit_client")
SEGMENT_BYTES_MAX = 16 * 1024 * 1024
#: Processes that use one spool at the same time.
SLOTS_MAX = 256
#: Entries that are read ahead of what is settled.
AHEAD_EVENTS_MAX = 256
FRAME_BYTES = len(b"00000000 \n")


class Spool:
    """Where events wait on the disk, and how.

    ``path`` may be shared by the processes of one machine, and not by several machines. ``bytes_max`` bounds what each process has
    waiting; beyond it the choice for a full queue applies. With ``fsync=False``, ``record`` does not wait for the disk: events
    then survive the end of the process but not a power failure.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], *, bytes_max: int = 1024**3, fsync: bool = True) -> None:
        self.path = Path(path)
        self.bytes_max = bytes_max
        self.fsync = fsync


def frame(body: bytes) -> bytes:
    return b"%08x %b\n" % (binascii.crc32(body), body)


def body_of_frame(line: bytes) -> Optional[bytes]:
    """The event of a line; ``None`` if the line is damaged or not complete."""
    if len(line) < FRAME_BYTES or not line.endswith(b"\n") or line[8:9] != b" ":
        return None
    body = line[9:-1]
    return body if line[:8] == b"%08x" % binascii.crc32(body) else None


class SlotLog:
    """The events of one slot, in the order in which they were recorded."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.path = path
        self.lock = lock
        self.pending = 0
        self.pending_bytes = 0
        self.ahead: Deque[Entry] = collections.deque()
        self.segments = sorted(int(file.stem) for file in path.glob("*.events"))
        self.position = self.read_position()
        self.count()
        self.reader: Optional[BinaryIO] = None
        self.read_segment, self.read_offset = self.position
        # Nothing is appended to a segment of an earlier process: its last line may be incomplete.
        self.segment = (self.segments[-1] if self.segments else self.position[0]) + 1
        self.written = 0
        self.fd: Optional[int] = None
        #: Held while the file is synced or closed, neither of which may happen to it during the other.
        self.sync_lock = threading.Lock()
        self.synced = (0, 0)

    def file(self, segment: int) -> Path:
        return self.path / f"{segment:016d}.events"

    def read_position(self) -> Tuple[int, int]:
        """What the file says, if that is the beginning of a line. Otherwise everything is sent again."""
        first = self.segments[0] if self.segments else 0
        try:
            segment, offset = map(int, (self.path / "position").read_text().split())
            if not self.segments:
                # All were settled and removed. Numbers go on behind them: this file must not name an offset in a new segment.
                return max(segment, 0), 0
            if offset > 0:
                with self.file(segment).open("rb") as file:
                    file.seek(offset - 1)
                    if file.read(1) != b"\n":
                        return first, 0
        except (OSError, ValueError):
            return first, 0
        return (segment, offset) if segment in self.segments and offset >= 0 else (first, 0)

    def count(self) -> None:
        """Counts what an earlier process left."""
        for segment in list(self.segments):
            if segment < self.position[0]:
                self.remove(segment)
                continue
            with self.file(segment).open("rb") as file:
                file.seek(self.position[1] if segment == self.position[0] else 0)
                for line in file:
                    body = body_of_frame(line)
                    self.pending += body is not None
                    self.pending_bytes += 0 if body is None else len(line)

    def append(self, entry: Entry) -> None:
        line = frame(entry.body)
        try:
            try:
                self.write_line(line)
            except OSError:
                if self.pending or not self.segments:
                    raise
                # A full disk, perhaps of settled events: the segment that is written stays until it is full.
                self.remove_settled()
                self.write_line(line)
        except OSError as error:
            raise SpoolError(f"cannot write to the spool {self.path}: {error}") from error
        self.written += len(line)
        self.pending += 1
        self.pending_bytes += len(line)
        entry.segment, entry.end = self.segment, self.written

    def write_line(self, line: bytes) -> None:
        try:
            if self.fd is None or self.written + len(line) > SEGMENT_BYTES_MAX:
                self.next_segment()
            assert self.fd is not None
            self.write(self.fd, line)
        except OSError:
            self.undo_write()
            raise

    def remove_settled(self) -> None:
        """Removes all segments, as no event is pending."""
        if self.fd is not None:
            self.end_segment()
        if self.reader is not None:
            self.reader.close()
            self.reader = None
        for segment in list(self.segments):
            self.remove(segment)
        self.read_segment, self.read_offset = self.segment, 0

    def next_segment(self) -> None:
        if self.fd is not None:
            self.end_segment()
        self.fd = os.open(self.file(self.segment), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        self.segments.append(self.segment)
        sync_directory(self.path)

    def end_segment(self) -> None:
        """Syncs and closes the file, so that `sync` only has to consider the last one."""
        with self.sync_lock:
            if self.fd is not None:
                os.fsync(self.fd)
                os.close(self.fd)
            self.fd = None
            self.segment += 1
            self.written = 0

    def sync(self, entry: Entry) -> None:
        """Returns when the entry is on the disk. One fsync serves all threads that wait for it."""
        with self.sync_lock:
            reached = (self.segment, self.written)
            if self.fd is None or self.synced >= (entry.segment, entry.end) or entry.segment < self.segment:
                return
            try:
                os.fsync(self.fd)
            except OSError as error:
                raise SpoolError(f"cannot write to the spool {self.path}: {error}") from error
            self.synced = reached

    @staticmethod
    def write(fd: int, line: bytes) -> None:
        while line:
            line = line[os.write(fd, line) :]

    def sync_last(self) -> None:
        """For threads that have written and find the file closed when they come to sync it."""
        assert self.fd is not None
        try:
            os.fsync(self.fd)
        except OSError as error:
            LOGGER.error("the last events of the spool %s may not be on the disk: %s", self.path, error)

    def undo_write(self) -> None:
        """After a full disk: removes the part that was written, or leaves this segment."""
        if self.fd is None:
            return
        try:
            os.ftruncate(self.fd, self.written)
        except OSError:
            self.end_segment()

    def fill(self) -> None:
        """Reads ahead."""
        while len(self.ahead) < AHEAD_EVENTS_MAX and (self.read_segment, self.read_offset) < (self.segment, self.written):
            if self.reader is None:
                file = self.file(self.read_segment)
                if not file.exists():
                    self.next_read_segment()
                    continue
                self.reader = file.open("rb")
                self.reader.seek(self.read_offset)
            line = self.reader.readline()
            self.read_offset += len(line)
            body = body_of_frame(line)
            if body is not None:
                self.ahead.append(Entry(body, self.read_segment, self.read_offset))
            elif line.endswith(b"\n"):
                LOGGER.error("the spool %s has a damaged event, which is lost: %s", self.path, self.file(self.read_segment))
            else:
                # The end of a segment, or a line that its process did not live to complete.
                self.reader.close()
                self.reader = None
                self.next_read_segment()

    def next_read_segment(self) -> None:
        later = [segment for segment in self.segments if segment > self.read_segment]
        self.read_segment, self.read_offset = (later[0] if later else self.segment), 0

    def advance(self, entries: List[Entry]) -> None:
        for entry in entries:
            self.ahead.popleft()
            self.pending -= 1
            self.pending_bytes -= len(entry.body) + FRAME_BYTES
        self.position = (entries[-1].segment, entries[-1].end)
        for segment in [segment for segment in self.segments if segment < self.position[0]]:
            self.remove(segment)
        temporary = self.path / "position.tmp"
        try:
            temporary.write_text(f"{self.position[0]} {self.position[1]}\n")
            temporary.replace(self.path / "position")
        except OSError as error:
            # A full disk. The next process sends these events again, and the server recognises them.
            LOGGER.warning("cannot write %s: %s", self.path / "position", error)

    def remove(self, segment: int) -> None:
        self.segments.remove(segment)
        try:
            self.file(segment).unlink()
        except OSError as error:
            # Settled events only. The next process tries again.
            LOGGER.warning("cannot remove %s: %s", self.file(segment), error)

    def close(self, *, sync: bool) -> None:
        with self.sync_lock:
            if self.fd is not None:
                if sync:
                    self.sync_last()
                os.close(self.fd)
                self.fd = None
        if self.reader is not None:
            self.reader.close()
            self.reader = None
        self.lock.release()


def sync_directory(path: Path) -> None:
    """Makes a new file's name durable. Windows has no such call and does not need it."""
    if os.name == "nt":
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class SpoolBuffer(Buffer):
    """The slot of this process, and the slots that processes left behind with events in them."""

    is_durable = True

    def __init__(self, spool: Spool) -> None:
        self.spool = spool
        self.left_behind: List[SlotLog] = []
        self.is_closed = False
        try:
            spool.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.own = self.open_slots()
        except OSError as error:
            raise SpoolError(f"cannot open the spool {spool.path}: {error}") from error

    def open_slots(self) -> SlotLog:
        """Takes the first free slot, and every other free one that has events."""
        own: Optional[SlotLog] = None
        for number in range(SLOTS_MAX):
            path = self.spool.path / str(number)
            if own is not None and not path.exists():
                return own
            path.mkdir(exist_ok=True, mode=0o700)
            lock = FileLock(path / "lock")
            if not lock.acquire():
                continue
            log = SlotLog(path, lock)
            if own is None:
                own = log
            elif log.pending:
                self.left_behind.append(log)
            else:
                log.close(sync=False)
        if own is None:
            raise SpoolError(f"{SLOTS_MAX} processes use the spool {self.spool.path}")
        return own

    def pending(self) -> int:
        return self.own.pending + sum(log.pending for log in self.left_behind)

    def has_room(self, entry: Entry) -> bool:
        return self.own.pending_bytes + len(entry.body) + FRAME_BYTES <= self.spool.bytes_max

    def append(self, entry: Entry) -> None:
        if self.is_closed:
            raise SpoolError("the spool is closed")
        self.own.append(entry)

    def sync(self, entry: Entry) -> None:
        if self.spool.fsync:
            self.own.sync(entry)

    def current(self) -> SlotLog:
        while self.left_behind and not self.left_behind[0].pending:
            self.left_behind.pop(0).close(sync=False)
        return self.left_behind[0] if self.left_behind else self.own

    def peek(self) -> List[Entry]:
        log = self.current()
        log.fill()
        return first_of(log.ahead)

    def advance(self, entries: List[Entry]) -> None:
        if not self.is_closed:
            self.current().advance(entries)

    def close(self) -> List[Entry]:
        self.release(sync=self.spool.fsync)
        return []

    def release(self, *, sync: bool) -> None:
        if self.is_closed:
            return
        self.is_closed = True
        for log in [*self.left_behind, self.own]:
            log.close(sync=sync)

    def release_after_fork(self) -> None:
        for log in [*self.left_behind, self.own]:
            # A thread of the parent may have held the lock; it does not exist here.
            log.sync_lock = threading.Lock()
        self.release(sync=False)
