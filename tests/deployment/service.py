"""The nodes of the service, and HTTP to them."""

import http.client
import json
import os
import re
import signal
import tempfile
import socket
import ssl
import time

import processes

RESPONSE_SECONDS_MAX = 5
# A change is not repeated without a response, so it may take as long as a busy machine needs.
CHANGE_SECONDS_MAX = 60
RETRY_SECONDS_MAX = 30
RETRY_PAUSE_SECONDS = 0.2
END_SECONDS_MAX = 60
LISTENING = re.compile(r"^listening on https?://(\S+):(\d+)$", re.MULTILINE)


class Unanswered(Exception):
    """No complete response: refused, broken off or too late. What was requested may have happened."""


class Connection:
    """A persistent connection to a node, opened when it is needed."""

    def __init__(self, node, timeout=RESPONSE_SECONDS_MAX):
        self.node = node
        self.timeout = timeout
        self.connection = None

    def request(self, method, path, key, body=None):
        """Status and body of the response. Raises `Unanswered`."""
        headers = {"Authorization": f"Bearer {key}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            if self.connection is None:
                self.connection = self.connect()
                self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connection.request(method, path, body, headers)
            response = self.connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Unanswered(f"{type(error).__name__}: {error}") from error

    def connect(self):
        authority = self.node.authority
        if authority is None:
            connection = http.client.HTTPConnection(*self.node.address, timeout=self.timeout)
        else:
            context = ssl.create_default_context(cafile=authority)
            connection = http.client.HTTPSConnection(*self.node.address, timeout=self.timeout, context=context)
        connection.connect()
        return connection

    def get(self, path, key):
        """The JSON of a response 200. Repeats the request after 503 and without a response, as clients do."""
        deadline = time.monotonic() + RETRY_SECONDS_MAX
        while True:
            try:
                status, body = self.request("GET", path, key)
            except Unanswered as error:
                status, body = 503, str(error)
            if status == 200:
                return json.loads(body)
            if status != 503 or time.monotonic() > deadline:
                raise RuntimeError(f"GET {path}: {status} {body[:300]}")
            time.sleep(RETRY_PAUSE_SECONDS)

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None


class Node:
    """A server process. It keeps its address when it is restarted.

    `authority` is the file with the certificate of its authority, where `settings` have it speak TLS. `prefix` is a command that
    executes the server's."""

    def __init__(self, number, binary, url, folder, namespace=None, settings=None, authority=None, prefix=()):
        self.number = number
        self.name = f"node{number}"
        self.binary = binary
        self.url = url
        self.log = os.path.join(folder, f"{self.name}.log")
        # Several nodes on one machine need a state directory each.
        self.state = f"{self.log}.state"
        self.namespace = namespace
        self.settings = settings or {}
        self.authority = authority
        self.prefix = list(prefix)
        self.address = (namespace.clients.inside if namespace else "127.0.0.1", 0)
        self.process = None

    def start(self):
        command = [self.binary, "serve", "--listen", f"{self.address[0]}:{self.address[1]}"]
        command = self.prefix + command
        if self.namespace:
            command = self.namespace.command(command)
        begin = os.path.getsize(self.log) if os.path.exists(self.log) else 0
        settings = {**environment(self.url), "AUDIT_STATE_DIR": self.state, **self.settings}
        self.process = processes.start(command, self.log, environment=settings)

        def listening():
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.name} has ended: {self.tail()}")
            with open(self.log, encoding="utf-8", errors="replace") as log:
                log.seek(begin)
                return LISTENING.search(log.read())

        found = processes.wait_until(listening, 60, f"{self.name} listens")
        self.address = (found[1], int(found[2]))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        """Stops the node as an operator does, and waits for it."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(END_SECONDS_MAX)
        if code != 0:
            raise RuntimeError(f"{self.name} ended with {code}: {self.tail()}")

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        if self.process and self.process.poll() is None:
            # A frozen process ends at SIGKILL only.
            self.kill()

    def tail(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()[-1000:].strip()


def environment(url):
    """Without the settings of the shell, which must not reach the server."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AUDIT_")}
    # One head key for all nodes.
    head_key = os.path.join(tempfile.gettempdir(), "audit-nodes.head-key")
    settings = {"AUDIT_DATABASE_URL": url, "AUDIT_HEAD_KEY_FILE": head_key, "RUST_LOG": "warn"}
    # The logs have the events of the load and no others.
    return {**kept, **settings, "AUDIT_SELF_AUDIT": "off"}


def create_organization(binary, url, name):
    """An organization without a daily limit: `master_key`, and `project_id` and `project_key` of its first project."""
    command = [binary, "org", "create", "--name", name, "--plan", "enterprise", "--json"]
    return json.loads(processes.run(command, environment=environment(url)))


def create_project(node, master_key, name):
    """The id and a live key of a new project."""
    project = post(node, master_key, "/api/v1/projects", {"name": name})["project"]["id"]
    key = post(node, master_key, "/api/v1/keys", {"project_id": project, "type": "project", "name": name})
    return project, key["key"]


def create_redaction_rule(node, master_key, project):
    """A rule that changes no event without that word."""
    rule = {"type": "pattern", "name": "zebra", "pattern": "zebra"}
    post(node, master_key, f"/api/v1/redaction/rules?project_id={project}", rule)


def store_event(node, key):
    """The status of a request that stores an event. None without a response."""
    body = json.dumps({"action": "drill.tried", "category": "system", "tenant_id": "drill", "actor": {"id": "drill", "type": "service"}})
    try:
        return Connection(node).request("POST", "/api/v1/events", key, body)[0]
    except Unanswered:
        return None


def delete(node, key, path):
    """Raises unless the response is 200."""
    status, response = Connection(node, timeout=CHANGE_SECONDS_MAX).request("DELETE", path, key)
    if status != 200:
        raise RuntimeError(f"DELETE {path}: {status} {response[:300]}")


def post(node, key, path, body):
    """The JSON of a response 201. Repeats the request after 503, as clients do: other changes may make this one stale."""
    connection = Connection(node, timeout=CHANGE_SECONDS_MAX)
    deadline = time.monotonic() + RETRY_SECONDS_MAX
    while True:
        status, response = connection.request("POST", path, key, json.dumps(body))
        if status == 201:
            connection.close()
            return json.loads(response)
        if status != 503 or time.monotonic() > deadline:
            raise RuntimeError(f"POST {path}: {status} {response[:300]}")
        time.sleep(RETRY_PAUSE_SECONDS)
