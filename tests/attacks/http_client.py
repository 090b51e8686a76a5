"""A small asynchronous HTTP/1.1 client that binds its source address, with TLS where the server speaks it."""

import asyncio
import functools
import socket
import ssl

# A response head, and a chunk's size line, are shorter.
LINE_BYTES_MAX = 256 * 1024


# What is read of an encrypted connection at once.
RECORD_BYTES_MAX = 1 << 16


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


@functools.lru_cache(maxsize=None)
def tls_context(authority):
    """The context of clients that trust the certificates in this file."""
    return ssl.create_default_context(cafile=authority)


class PlainSocket:
    """Bytes to and from a connected socket, without TLS."""

    def __init__(self, opened):
        self.opened = opened

    async def send(self, data):
        await asyncio.get_running_loop().sock_sendall(self.opened, data)

    async def receive(self, bytes_max):
        return await asyncio.get_running_loop().sock_recv(self.opened, bytes_max)

    def close(self):
        self.opened.close()


class TlsSocket:
    """Bytes to and from a connected socket with TLS. Nothing is read from the network unless `receive` is called."""

    def __init__(self, opened, context, server):
        self.opened = opened
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname=server)

    async def handshake(self):
        while True:
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                await self.flush()
                await self.fill()
            else:
                return await self.flush()

    async def flush(self):
        data = self.outgoing.read()
        if data:
            await asyncio.get_running_loop().sock_sendall(self.opened, data)

    async def fill(self):
        data = await asyncio.get_running_loop().sock_recv(self.opened, RECORD_BYTES_MAX)
        if data:
            self.incoming.write(data)
        else:
            self.incoming.write_eof()

    async def send(self, data):
        self.tls.write(data)
        await self.flush()

    async def receive(self, bytes_max):
        while True:
            try:
                return self.tls.read(bytes_max)
            except ssl.SSLWantReadError:
                await self.flush()
                await self.fill()
            except ssl.SSLEOFError:
                return b""

    def close(self):
        self.opened.close()


async def open_bytes(address, source, authority, receive_buffer=None):
    """A connection of bytes, with TLS if `authority` names a file with the certificate of its authority."""
    opened = await open_socket(address, source, receive_buffer)
    if authority is None:
        return PlainSocket(opened)
    try:
        connection = TlsSocket(opened, tls_context(authority), address[0])
        await connection.handshake()
        return connection
    except ssl.SSLError as error:
        opened.close()
        raise OSError(str(error)) from error
    except BaseException:
        opened.close()
        raise


class Connection:
    """A persistent connection, opened when it is needed."""

    def __init__(self, address, source, authority=None):
        self.address = address
        self.source = source
        self.authority = authority
        self.reader = None
        self.writer = None

    async def send(self, message):
        """Status and body of the response to the bytes of a request. Raises `NoResponse`."""
        try:
            if self.writer is None:
                opened = await open_socket(self.address, self.source)
                tls = {}
                if self.authority is not None:
                    tls = {"ssl": tls_context(self.authority), "server_hostname": self.address[0]}
                self.reader, self.writer = await asyncio.open_connection(sock=opened, limit=LINE_BYTES_MAX, **tls)
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
