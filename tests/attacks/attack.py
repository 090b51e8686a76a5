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
    # What of the victim is measured beside writes, reads, feed and /healthz.
    extra_operations = ()
    # Whether the attack needs a receiver of webhooks, hence certificates.
    needs_receivers = False
    # Statuses without which the attack has not reached what it attacks.
    needed_outcomes = ()

    def operations(self):
        return (*OPERATIONS, *self.extra_operations)

    def prepare(self, scene):
        """Creates what the attack needs. Returns a remark for the table."""
        return ""

    def clients(self, generator):
        """The coroutines of one generator process."""
        raise NotImplementedError


def post(target, key, body):
    return http_client.request("POST", target, key, body)


def get(target, key=None):
    return http_client.request("GET", target, key)


def cycle(messages, first=0):
    """The messages again and again, from one of them."""
    messages = list(messages)
    start = first % len(messages)
    return itertools.cycle(messages[start:] + messages[:start])
