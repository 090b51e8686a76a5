"""Attacks with TLS handshakes: idle ones, slow ones, and as many as possible."""

import asyncio
import itertools

import http_client
from attack import Attack, get
from generator import RETRY_SECONDS

# A record that announces a client hello of 16 KiB.
HELLO_HEADER = bytes([22, 3, 1, 64, 0, 1, 0, 63, 252])
# Key updates, requests to renegotiate and the like are records after the handshake; what is no such record is an alert.
GARBAGE = bytes([23, 3, 3, 64, 0]) + b"\x00" * 16 * 1024


class Handshakes(Attack):
    """Attacks on a server with TLS."""

    needs_tls = True
    is_busy = False


class IdleHandshakes(Handshakes):
    """Sockets that send nothing, or the beginning of a client hello."""

    name = "tls-idle"
    summary = "1,000 sockets connect to a server with TLS and send nothing, or the beginning of a client hello"

    def clients(self, generator):
        return [
            generator.hold([HELLO_HEADER] if number % 4 < 2 else [], is_bare=True) for number in generator.share(1_000)
        ]


class SlowHandshakes(Handshakes):
    """A client hello of one byte a second."""

    name = "tls-slow"
    summary = "1,000 sockets send a client hello with one byte a second"

    def clients(self, generator):
        return [generator.hold([HELLO_HEADER], trickle=b"a", is_bare=True) for _ in generator.share(1_000)]


class ManyHandshakes(Handshakes):
    """A handshake for each request, and handshakes that are left at once."""

    name = "tls-handshakes"
    summary = "400 requests/s with a handshake each; 32 clients break off after it, or send records that are none"
    is_busy = True
    needed_outcomes = ("200", "handshake")

    def clients(self, generator):
        return [
            *(self.handshakes(generator, number) for number in generator.share(32)),
            self.at_rate(generator, [itertools.repeat(get("/healthz"))], is_new_connection=True),
        ]

    @staticmethod
    async def handshakes(generator, number):
        is_first = True
        while True:
            try:
                connection = await generator.socket()
                generator.count("handshake")
                if number % 4 < 2:
                    # Past the encryption: the server reads what is no record of this session.
                    await http_client.PlainSocket(connection.opened).send(GARBAGE)
                connection.close()
            except (OSError, asyncio.TimeoutError) as error:
                generator.count(type(error).__name__)
                await asyncio.sleep(RETRY_SECONDS)
            if is_first:
                is_first = False
                generator.ready()


ALL = [IdleHandshakes(), SlowHandshakes(), ManyHandshakes()]
