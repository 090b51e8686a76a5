"""A small asynchronous HTTP/1.1 client that binds its source address."""

import asyncio
import socket

# A response head, and a chunk's size line, are shorter.
LINE_BYTES_MAX = 256 * 1024


class NoResponse(Exception):
    """No complete response: refused, broken off or too late."""


def head(method, target, key=None, length=None, extra=()):
    """The bytes of a request head."""
    lines = [f"{method} {target} HTTP/1.1", "Host: audit.test"]
    if key is not None:
        lines.append(f"Authorization: Bearer {key}")
    if length is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {length}"]
    return "\r\n".join([*lines, *extra, "", ""]).encode()


def request(method, target, key=None, body=None, extra=()):
    """The bytes of a whole request."""
    if body is None:
        return head(method, target, key, None, extra)
    return head(method, target, key, len(body), extra) + body


async def open_socket(address, source, receive_buffer=None):
    """A connected non-blocking socket. `receive_buffer`: SO_RCVBUF in bytes."""
    opened = socket.socket()
    try:
        opened.setblocking(False)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if receive_buffer is not None:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        # The kernel chooses the port when it connects: far more sockets fit than with ports chosen here.
        opened.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
        opened.bind((source, 0))
        await asyncio.get_running_loop().sock_connect(opened, address)
        return opened
    except BaseException:
        opened.close()
        raise


class Connection:
    """A persistent connection, opened when it is needed."""

    def __init__(self, address, source):
        self.address = address
        self.source = source
        self.reader = None
        self.writer = None

    async def send(self, message):
        """Status and body of the response to the bytes of a request. Raises `NoResponse`."""
        try:
            if self.writer is None:
                opened = await open_socket(self.address, self.source)
                self.reader, self.writer = await asyncio.open_connection(sock=opened, limit=LINE_BYTES_MAX)
            self.writer.write(message)
            return await self.receive()
        except (OSError, EOFError, ValueError, IndexError, asyncio.LimitOverrunError) as error:
            self.close()
            raise NoResponse(f"{type(error).__name__}: {error}") from error
        except asyncio.CancelledError:
            self.close()
            raise

    async def receive(self):
        first, headers = parse_head(await self.reader.readuntil(b"\r\n\r\n"))
        if headers.get("transfer-encoding") == "chunked":
            body = await self.receive_chunks()
        else:
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("connection") == "close":
            self.close()
        return int(first.split(" ")[1]), body

    async def receive_chunks(self):
        chunks = []
        while True:
            size = int(await self.reader.readuntil(b"\r\n"), 16)
            chunks.append((await self.reader.readexactly(size + 2))[:-2])
            if size == 0:
                return b"".join(chunks)

    def close(self):
        if self.writer is not None:
            self.writer.transport.abort()
            self.reader = self.writer = None


def parse_head(text):
    """The first line, and the headers with names in lower case."""
    first, *lines = text.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines if line)
    return first, {name.strip().lower(): value.strip() for name, _, value in pairs}
