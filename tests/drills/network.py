"""Network namespaces: a node whose packets to and from the database can be dropped.

A node in a namespace has two links to the outside: one to the database, one to its clients. A link is cut by a wrong
hardware address at both of its ends: each packet is sent and arrives nowhere, as on a broken network, and no connection is
reset. This needs neither a firewall nor a module of the kernel.
"""

import os
import shutil
import subprocess

import processes

WRONG_HARDWARE_ADDRESS = "02:00:00:00:00:01"
# Each link has a network of four addresses within it.
NETWORK = "10.213.0.0/16"


def obstacle():
    """Why namespaces cannot be used here; None if they can."""
    if os.geteuid() != 0:
        return "this needs root"
    if not shutil.which("ip"):
        return "ip (Debian package iproute2) is not installed"
    name = f"drill-{os.getpid()}-try"
    commands = [
        f"ip netns add {name}",
        f"ip -n {name} link set lo up",
        f"ip link add dt{os.getpid() % 100000} type veth peer name dt0 netns {name}",
    ]
    try:
        for command in commands:
            tried = subprocess.run(command.split(), capture_output=True, text=True, check=False)
            if tried.returncode != 0:
                return f"{command}: {tried.stderr.strip()}"
        return None
    finally:
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


class Link:
    """A link between this machine and a namespace."""

    def __init__(self, namespace, number):
        self.namespace = namespace
        self.outside_name = f"dr{os.getpid() % 100000}x{number}"
        self.inside_name = f"in{number}"
        third, fourth = divmod(4 * number, 256)
        self.outside = f"10.213.{third}.{fourth + 1}"
        self.inside = f"10.213.{third}.{fourth + 2}"
        ip(f"link add {self.outside_name} type veth peer name {self.inside_name} netns {namespace}")
        ip(f"addr add {self.outside}/30 dev {self.outside_name}")
        ip(f"link set {self.outside_name} up")
        ip(f"-n {namespace} addr add {self.inside}/30 dev {self.inside_name}")
        ip(f"-n {namespace} link set {self.inside_name} up")

    def cut(self):
        for command in self._neighbours():
            ip(f"{command} lladdr {WRONG_HARDWARE_ADDRESS} nud permanent")

    def mend(self):
        for command in self._neighbours():
            ip(command.replace("neigh replace", "neigh del"))

    def _neighbours(self):
        return [
            f"neigh replace {self.inside} dev {self.outside_name}",
            f"-n {self.namespace} neigh replace {self.outside} dev {self.inside_name}",
        ]


class Namespace:
    """A network namespace with a link to the database and one to clients."""

    def __init__(self, number):
        self.name = f"drill-{os.getpid()}-{number}"
        ip(f"netns add {self.name}")
        ip(f"-n {self.name} link set lo up")
        self.database = Link(self.name, 2 * number)
        self.clients = Link(self.name, 2 * number + 1)

    def command(self, command):
        return ["ip", "netns", "exec", self.name, *command]

    def remove(self):
        # Removes both links.
        ip(f"netns del {self.name}")


def ip(arguments):
    processes.run(["ip", *arguments.split()])
