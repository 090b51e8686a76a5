"""HAProxy in front of nodes: what a client sees that knows one address."""

import os
import shutil
import socket

import postgres
import processes

# Health checks of a node, and so how long it is used after its `/readyz` has become 503.
CHECK_SECONDS = 0.2
CONFIGURATION = """
global
    stats socket {socket} level operator
defaults
    mode http
    timeout connect 2s
    timeout client 60s
    timeout server 60s
frontend clients
    bind 127.0.0.1:{port}
    default_backend nodes
backend nodes
    option httpchk GET /readyz
    default-server check inter {milliseconds} fall 1 rise 1
"""


class Balancer:
    """Distributes requests over nodes that are ready. It has `address` and `authority`, as a `service.Node` has."""

    authority = None

    def __init__(self, folder, nodes):
        self.address = ("127.0.0.1", postgres.free_port())
        # The path of a socket may not be long.
        self.socket = os.path.join(folder, "haproxy.sock")
        configuration = os.path.join(folder, "haproxy.cfg")
        with open(configuration, "w", encoding="utf-8") as file:
            file.write(
                CONFIGURATION.format(socket=self.socket, port=self.address[1], milliseconds=round(CHECK_SECONDS * 1000))
            )
            for node in nodes:
                file.write(f"    server {node.name} {node.address[0]}:{node.address[1]}\n")
        command = [program(), "-db", "-f", configuration]
        self.process = processes.start(command, os.path.join(folder, "haproxy.log"))
        for node in nodes:
            self.wait_for(node)

    def wait_for(self, node):
        """Until requests are sent to the node."""

        def is_up():
            try:
                return f"nodes,{node.name},UP" in self.states()
            except OSError:
                return False

        processes.wait_until(is_up, 60, f"HAProxy uses {node.name}")

    def states(self):
        """A line for each server: backend, name, state."""
        with socket.socket(socket.AF_UNIX) as opened:
            opened.connect(self.socket)
            opened.sendall(b"show stat\n")
            text = opened.makefile().read()
        header, *lines = [line.split(",") for line in text.splitlines() if line]
        state = header.index("status")
        return [",".join([line[0], line[1], line[state]]) for line in lines]

    def stop(self):
        self.process.kill()
        self.process.wait()


def program():
    """The path of HAProxy; None where it is not installed."""
    return shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin")
