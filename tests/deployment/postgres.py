"""PostgreSQL servers: one, or a primary with a synchronous standby."""

import os
import shutil
import signal
import socket
import subprocess

import processes

DATABASE = "audit"
ROLE = "audit"
# A crash of a process loses nothing that it has written, so syncing would only cost time.
SETTINGS = {"fsync": "off", "max_connections": "200", "wal_keep_size": "256MB"}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """One PostgreSQL server in a directory of its own."""

    def __init__(self, folder, name, addresses=("127.0.0.1",), settings=None):
        self.user = processes.database_user()
        self.folder = os.path.join(folder, name)
        self.data = os.path.join(self.folder, "data")
        self.log = os.path.join(folder, f"{name}.log")
        self.addresses = addresses
        self.settings = {**SETTINGS, **(settings or {})}
        self.port = free_port()
        self.process = None
        os.mkdir(self.folder)
        if self.user:
            shutil.chown(self.folder, self.user)

    def create(self, networks=()):
        """Creates an empty cluster. `networks` may connect too."""
        options = ["-U", ROLE, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions"]
        processes.run([processes.program("initdb"), "-D", self.data, *options], self.user)
        with open(os.path.join(self.data, "pg_hba.conf"), "a", encoding="utf-8") as rules:
            for network in networks:
                rules.write(f"host all all {network} trust\n")

    def copy_from(self, primary):
        """Becomes a standby of `primary`."""
        shutil.rmtree(self.data, ignore_errors=True)
        source = f"host=127.0.0.1 port={primary.port} user={ROLE} application_name=standby"
        command = [processes.program("pg_basebackup"), "-D", self.data, "-d", source, "-R", "-X", "stream"]
        processes.run([*command, "-c", "fast", "--no-sync"], self.user)

    def start(self):
        command = [processes.program("postgres"), "-D", self.data, "-k", self.folder, "-p", str(self.port)]
        settings = {**self.settings, "listen_addresses": ",".join(self.addresses)}
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        environment = {**os.environ, "LC_ALL": "C"}
        self.process = processes.start(command, self.log, self.user, environment, "QUIT")

    def wait_ready(self):
        """Waits until it accepts connections: also read-only ones of a standby."""
        ready = [processes.program("pg_isready"), "-q", "-h", self.folder, "-p", str(self.port)]

        def is_ready():
            if self.process.poll() is not None:
                raise RuntimeError(f"PostgreSQL has ended; see {self.log}")
            return subprocess.run(ready, check=False).returncode == 0

        processes.wait_until(is_ready, 60, "PostgreSQL accepts connections")

    def stop(self):
        """An immediate shutdown: no checkpoint, so the next start recovers from the write-ahead log."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(60)

    def promote(self):
        """Makes a standby the primary, and waits until it accepts writes."""
        processes.run([processes.program("pg_ctl"), "promote", "-w", "-D", self.data], self.user)

    def query(self, statement, database=DATABASE):
        """The rows of a statement as lists of texts."""
        command = [processes.program("psql"), "-h", self.folder, "-p", str(self.port), "-U", ROLE, "-d", database]
        output = processes.run([*command, "-XAtq", "-F", "\t", "-c", statement])
        return [line.split("\t") for line in output.splitlines()]

    def require_standby(self):
        """Commits wait for a standby from now on. Returns when one keeps up."""
        self.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.query("SELECT pg_reload_conf()")
        states = "SELECT 1 FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')"
        processes.wait_until(lambda: self.query(states), 60, "a standby keeps up")

    def receiver(self):
        """The process of this standby that receives the write-ahead log, once it streams."""
        statement = "SELECT pid FROM pg_stat_wal_receiver WHERE status = 'streaming'"
        rows = processes.wait_until(lambda: self.query(statement, "postgres"), 60, "the standby streams")
        return int(rows[0][0])

    def release_standby(self):
        """Commits wait for no standby from now on: the copy of a primary has its settings."""
        self.query("ALTER SYSTEM RESET synchronous_standby_names")
        self.query("SELECT pg_reload_conf()")


class Pair:
    """A primary and a standby that change roles."""

    def __init__(self, folder, is_synchronous=True, settings=None):
        self.is_synchronous = is_synchronous
        self.primary = Server(folder, "first", settings=settings)
        self.standby = Server(folder, "second", settings=settings)
        self.primary.create()
        self.primary.start()
        self.primary.wait_ready()
        self.primary.query(f"CREATE DATABASE {DATABASE}", "postgres")
        self.attach_standby()

    def attach_standby(self):
        """Rebuilds the standby from the primary."""
        self.standby.copy_from(self.primary)
        self.standby.start()
        self.standby.wait_ready()
        if self.is_synchronous:
            self.primary.require_standby()
        else:
            self.standby.receiver()

    def fail_over(self):
        """The primary crashes, and the standby takes over."""
        self.primary.stop()
        self.primary, self.standby = self.standby, self.primary
        self.primary.promote()
        self.primary.release_standby()

    def fail_over_with_loss(self, store):
        """The same, without the commits of `store`: the standby does not receive them."""
        receiver = self.standby.receiver()
        os.kill(receiver, signal.SIGSTOP)
        store()
        self.primary.stop()
        # It ends before it reads what is still in its socket.
        os.kill(receiver, signal.SIGTERM)
        os.kill(receiver, signal.SIGCONT)
        self.fail_over()

    def url(self, name):
        hosts = sorted(f"127.0.0.1:{server.port}" for server in (self.primary, self.standby))
        parameters = f"target_session_attrs=read-write&application_name={name}"
        return f"postgres://{ROLE}@{','.join(hosts)}/{DATABASE}?{parameters}"

    def stop(self):
        self.standby.stop()
        self.primary.stop()
