"""PostgreSQL servers under Patroni: it elects the primary through etcd, and keeps a synchronous standby."""

import json
import os
import shutil
import signal
import urllib.error
import urllib.request

import postgres
import processes

MEMBERS = 3
# The smallest that Patroni accepts. After a crash of the primary it takes up to TTL_SECONDS until the others notice.
TTL_SECONDS = 20
LOOP_WAIT_SECONDS = 1
RETRY_TIMEOUT_SECONDS = 3


def obstacle():
    """Why Patroni cannot be used here; None if it can."""
    for name, package in (("patroni", "patroni"), ("etcd", "etcd-server")):
        if not shutil.which(name):
            return f"{name} (Debian package {package}) is not installed"
    return None


class Etcd:
    """One etcd server. Its failure is not part of the drill."""

    def __init__(self, folder, user):
        self.data = os.path.join(folder, "etcd")
        os.mkdir(self.data, 0o700)
        if user:
            shutil.chown(self.data, user)
        self.client = f"127.0.0.1:{postgres.free_port()}"
        peer = f"http://127.0.0.1:{postgres.free_port()}"
        command = ["etcd", "--name", "drill", "--data-dir", self.data, "--unsafe-no-fsync"]
        command += ["--listen-client-urls", f"http://{self.client}", "--advertise-client-urls", f"http://{self.client}"]
        command += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
        command += ["--initial-cluster", f"drill={peer}"]
        self.process = processes.start(command, os.path.join(folder, "etcd.log"), user, {"PATH": os.environ["PATH"]})

    def wait_ready(self):
        processes.wait_until(lambda: fetch(f"http://{self.client}/health"), 60, "etcd is ready")

    def stop(self):
        self.process.kill()
        self.process.wait(60)


class Member:
    """One PostgreSQL server and its Patroni."""

    def __init__(self, folder, name, etcd):
        self.server = postgres.Server(folder, name)
        self.name = name
        self.rest = f"127.0.0.1:{postgres.free_port()}"
        self.log = os.path.join(folder, f"{name}-patroni.log")
        self.settings = os.path.join(folder, f"{name}.yaml")
        self.process = None
        with open(self.settings, "w", encoding="utf-8") as file:
            # YAML reads JSON.
            json.dump(self._settings(etcd), file, indent=1)
        os.chmod(self.settings, 0o644)

    def _settings(self, etcd):
        # The password is never asked for.
        role = {"username": postgres.ROLE, "password": "none"}
        return {
            "scope": "drill",
            "name": self.name,
            "restapi": {"listen": self.rest, "connect_address": self.rest},
            "etcd3": {"host": etcd.client},
            "bootstrap": {
                "dcs": {
                    "ttl": TTL_SECONDS,
                    "loop_wait": LOOP_WAIT_SECONDS,
                    "retry_timeout": RETRY_TIMEOUT_SECONDS,
                    "synchronous_mode": True,
                    "postgresql": {
                        "use_pg_rewind": True,
                        "parameters": {**postgres.SETTINGS, "wal_log_hints": "on"},
                    },
                },
                "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, {"auth": "trust"}, "no-sync"],
            },
            "postgresql": {
                "listen": f"127.0.0.1:{self.server.port}",
                "connect_address": f"127.0.0.1:{self.server.port}",
                "data_dir": self.server.data,
                "bin_dir": os.path.dirname(processes.program("postgres")),
                "pgpass": os.path.join(self.server.folder, "pgpass"),
                "authentication": {"superuser": role, "replication": role, "rewind": role},
                "parameters": {"unix_socket_directories": self.server.folder},
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
            },
        }

    def start(self):
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        # PostgreSQL, which Patroni starts, outlives it.
        command = ["patroni", self.settings]
        self.process = processes.start(command, self.log, self.server.user, environment)

    def crash(self):
        """Kills Patroni and PostgreSQL, as a crash of their machine does."""
        self.process.kill()
        self.process.wait(60)
        pid_file = os.path.join(self.server.data, "postmaster.pid")
        if not os.path.exists(pid_file):
            return
        with open(pid_file, encoding="utf-8") as file:
            pid = int(file.readline())
        # The children of a killed postmaster end by themselves, later. An immediate shutdown ends all at once, without a checkpoint.
        os.kill(pid, signal.SIGQUIT)
        processes.wait_until(lambda: not os.path.exists(f"/proc/{pid}"), 60, "PostgreSQL has ended")

    def is_primary(self):
        return fetch(f"http://{self.rest}/primary")

    def is_synchronous_standby(self):
        return fetch(f"http://{self.rest}/synchronous")


def fetch(url):
    """Whether a GET request is answered with 200."""
    try:
        with urllib.request.urlopen(url, timeout=2) as response:
            return response.status == 200
    except (urllib.error.URLError, OSError):
        return False


class Group:
    """The servers of one Patroni cluster."""

    def __init__(self, folder):
        self.etcd = Etcd(folder, processes.database_user())
        self.members = []
        self.etcd.wait_ready()
        for number in range(MEMBERS):
            self.members.append(Member(folder, f"member{number}", self.etcd))
            self.members[number].start()
            # The first one becomes the primary.
            self.wait_for_primary(60)
        self.wait_for_standby()
        self.primary().server.query(f"CREATE DATABASE {postgres.DATABASE}", "postgres")

    def primary(self):
        """The member that accepts writes; None while there is none."""
        return next((member for member in self.members if member.is_primary()), None)

    def wait_for_primary(self, seconds):
        return processes.wait_until(self.primary, seconds, "a primary was elected")

    def wait_for_standby(self):
        """Waits until commits wait for a standby: before, a crash of the primary would stop all writes."""

        def is_there():
            return any(member.is_synchronous_standby() for member in self.members)

        processes.wait_until(is_there, 120, "a synchronous standby keeps up")

    def url(self, name):
        hosts = ",".join(f"127.0.0.1:{member.server.port}" for member in self.members)
        parameters = f"target_session_attrs=read-write&application_name={name}"
        return f"postgres://{postgres.ROLE}@{hosts}/{postgres.DATABASE}?{parameters}"

    def stop(self):
        for member in self.members:
            if member.process and member.process.poll() is None:
                member.crash()
        self.etcd.stop()
