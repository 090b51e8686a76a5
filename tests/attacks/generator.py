"""Generator processes: they run the clients of an attack, or the harmless load that it is compared with."""

import asyncio
import itertools
import os
import resource
import traceback
from collections import Counter

import http_client
import scene as scenes

# The victim's process and the server have the default: on one machine the work of the generators must not count as an effect
# of the attack.
NICENESS = 5
PROCESSES = 2
# Connections of the harmless load, of each process.
HARMLESS_CONNECTIONS = 4
# An attack that the server keeps from taking its position is measured all the same.
POSITION_SECONDS_MAX = 10
# Before a connection that the server has closed is opened again.
REOPEN_SECONDS = 1.0
RETRY_SECONDS = 0.05
CONNECT_SECONDS_MAX = 5
RESPONSE_SECONDS_MAX = 60
# Requests of each process that wait for their responses. An attacker has more sockets than that; they cost it, too.
IN_FLIGHT_MAX = 256
# A process that is late sends what was due in this time at once, and nothing of what was due before.
LATE_SECONDS_MAX = 0.1


class Generator:
    """One generator process: its part of the attack, and what became of its requests."""

    def __init__(self, number, scene):
        self.number = number
        self.scene = scene
        self.outcomes = Counter()
        # Of this program: an attack that does not work shows nothing.
        self.errors = []
        self.opened = 0
        self.in_position = 0
        self.expected = 0
        self.is_in_position = asyncio.Event()

    def share(self, total):
        """The numbers of this process among `total` clients of all."""
        return range(self.number, total, PROCESSES)

    def count(self, outcome):
        self.outcomes[str(outcome)] += 1

    def ready(self):
        """A client is in position: connected, and its first message sent."""
        self.in_position += 1
        if self.in_position >= self.expected:
            self.is_in_position.set()

    def fail(self, error):
        self.errors.append("".join(traceback.format_exception(type(error), error, error.__traceback__)))

    def source(self):
        self.opened += 1
        return self.scene.sources[self.opened % len(self.scene.sources)]

    async def socket(self, receive_buffer=None):
        """A connection of bytes, after its TLS handshake if the server speaks TLS."""
        scene = self.scene
        opening = http_client.open_bytes(scene.address, self.source(), scene.authority, receive_buffer)
        return await asyncio.wait_for(opening, CONNECT_SECONDS_MAX)

    async def bare_socket(self):
        """A connection without TLS, whatever the server speaks."""
        opening = http_client.open_bytes(self.scene.address, self.source(), None)
        return await asyncio.wait_for(opening, CONNECT_SECONDS_MAX)

    def connection(self):
        return http_client.Connection(self.scene.address, self.source(), self.scene.authority)

    async def hold(self, messages, receive_buffer=None, trickle=None, reads=True, is_bare=False):
        """Sends messages on a connection and keeps it. `trickle`: then one of these bytes a second. A connection that the
        server responds on or closes is opened again. `is_bare`: without TLS, whatever the server speaks."""
        is_first = True
        while True:
            opened = None
            try:
                opened = await (self.bare_socket() if is_bare else self.socket(receive_buffer))
                for message in messages:
                    await opened.send(message)
                if is_first:
                    is_first = False
                    self.ready()
                if not reads:
                    await asyncio.Event().wait()
                data = await self.wait_for_response(opened, trickle)
                self.count(data[9:12].decode("latin-1") if data else "closed")
            except (OSError, asyncio.TimeoutError) as error:
                self.count(type(error).__name__)
            finally:
                if opened:
                    opened.close()
            await asyncio.sleep(REOPEN_SECONDS)

    @staticmethod
    async def wait_for_response(opened, trickle):
        if trickle is None:
            return await opened.receive(4096)
        response = asyncio.ensure_future(opened.receive(4096))
        try:
            while True:
                done, _ = await asyncio.wait([response], timeout=1)
                if done:
                    return response.result()
                await opened.send(trickle)
        finally:
            response.cancel()

    async def send_at_rate(self, clients, per_second, is_new_connection=False):
        """Sends the messages of these iterators in turn, so many a second of all processes together, whether or not the
        responses come: an open loop, as attackers who do not wait. Each takes an idle connection, or opens one."""
        loop = asyncio.get_running_loop()
        messages = (next(client) for client in itertools.cycle(clients))
        idle, waiting = [], set()
        await self.exchange(self.connection(), next(messages), idle, is_new_connection)
        self.ready()
        due = loop.time()
        while True:
            due = max(due + PROCESSES / per_second, loop.time() - LATE_SECONDS_MAX)
            await asyncio.sleep(max(0.0, due - loop.time()))
            if len(waiting) == IN_FLIGHT_MAX:
                self.count("not sent")
                continue
            connection = idle.pop() if idle else self.connection()
            task = asyncio.create_task(self.exchange(connection, next(messages), idle, is_new_connection))
            waiting.add(task)
            task.add_done_callback(waiting.discard)

    async def exchange(self, connection, message, idle, is_new_connection):
        """Sends a message, counts the response, and returns the connection to the idle ones."""
        try:
            status, _ = await asyncio.wait_for(connection.send(message), RESPONSE_SECONDS_MAX)
            self.count(status)
        except (http_client.NoResponse, asyncio.TimeoutError) as error:
            connection.close()
            self.count(str(error).partition(":")[0] or "timeout")
        if is_new_connection:
            connection.close()
        idle.append(connection)

    async def repeat(self, messages, interval=0.0):
        """Sends the messages of an iterator on one connection, each after the response to the one before."""
        connection = self.connection()
        is_first = True
        for message in messages:
            try:
                status, _ = await asyncio.wait_for(connection.send(message), RESPONSE_SECONDS_MAX)
                self.count(status)
            except (http_client.NoResponse, asyncio.TimeoutError) as error:
                connection.close()
                self.count(str(error).partition(":")[0] or "timeout")
                await asyncio.sleep(RETRY_SECONDS)
            if is_first:
                is_first = False
                self.ready()
            if interval:
                await asyncio.sleep(interval)


def harmless(generator):
    """As many busy processes as in the attack, with work of their own and requests that cost the server next to nothing."""

    def messages():
        events = [scenes.event(number) for number in range(100)]
        while True:
            scenes.encoded(events)
            yield http_client.request("GET", "/healthz")

    return [generator.repeat(messages()) for _ in range(HARMLESS_CONNECTIONS)]


async def run_clients(connection, generator, clients):
    """Runs clients until the parent sends something, or has died, and ends this process."""
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_reader(connection.fileno(), stopping.set)
    generator.expected = len(clients)
    tasks = [asyncio.create_task(client) for client in clients]
    try:
        await asyncio.wait_for(generator.is_in_position.wait(), POSITION_SECONDS_MAX if clients else 0)
        connection.send("in position")
    except asyncio.TimeoutError:
        connection.send(f"{generator.in_position} of {len(clients)} clients in position")
    await stopping.wait()
    for task in tasks:
        if task.done() and task.exception():
            generator.fail(task.exception())
    connection.send((generator.outcomes, generator.errors))
    # Thousands of clients need not end one by one, and `asyncio.wait_for` can lose a cancellation (Python before 3.12).
    os._exit(0)


def run(connection, number, scene, attack, is_harmless):
    """The main function of a generator process. Sends its state once it is in position, and in the end the outcomes."""
    os.nice(NICENESS)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    async def main():
        generator = Generator(number, scene)
        await run_clients(connection, generator, harmless(generator) if is_harmless else attack.clients(generator))

    asyncio.run(main())
