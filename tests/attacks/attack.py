"""What an attack is."""

import itertools

import http_client
from figures import OPERATIONS


class Attack:
    """Clients that try to take the service from another organization. Passed to the generator processes."""

    name = ""
    summary = ""
    # Whether the generators need much of a processor. The quiet figures are then those beside a harmless load of as many
    # busy processes.
    is_busy = True
    # Requests of the attackers per second, where they do not wait for responses.
    per_second = 400
    # What is measured beside `figures.OPERATIONS`.
    extra_operations = ()
    # Whether the attack needs a receiver of webhooks, hence certificates.
    needs_receivers = False
    # Whether the server speaks TLS, whatever the command line says.
    needs_tls = False
    # Whether names are resolved by a server that never responds, for which `prepare` has to be root.
    needs_silent_resolver = False
    # The databases that the attack is about.
    databases = ("sqlite", "postgres")
    # What the state before the bounds of docs/design/limits.md did, on SQLite, where it was bad.
    before = ""
    # Statuses without which the attack has not reached what it attacks.
    needed_outcomes = ()

    def settings(self, folder):  # pylint: disable=unused-argument
        """Environment variables of the server. `folder` is for its files."""
        return {}

    def operations(self):
        return (*OPERATIONS, *self.extra_operations)

    def prepare(self, scene):
        """Creates what the attack needs. Returns a remark for the table."""
        return ""

    def clients(self, generator):
        """The coroutines of one generator process."""
        raise NotImplementedError

    def at_rate(self, generator, messages, is_new_connection=False):
        """The coroutine that sends messages at the rate of the attack. `messages` are iterators, one for each of the clients
        whose messages depend on those before."""
        return generator.send_at_rate(messages, self.per_second, is_new_connection)


def post(target, key, body):
    return http_client.request("POST", target, key, body)


def get(target, key=None):
    return http_client.request("GET", target, key)


def cycle(messages, first=0):
    """The messages again and again, from one of them."""
    messages = list(messages)
    start = first % len(messages)
    return itertools.cycle(messages[start:] + messages[:start])
