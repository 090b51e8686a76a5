#!/usr/bin/env python3
"""Runs every command of docs/operations.md as it is written, in its order, and prints how long each step takes.

The blocks of commands run in one environment, in which `export` lasts, on SQLite in a temporary folder or on a temporary PostgreSQL. A block
that begins with the name of the other database is left out. Only places are replaced: paths below /var and /etc, hosts and ports. Where
Prometheus is installed, it watches the server with the job of deploy/README.md. `audit-server serve` is started, and runs until the next one. The commands between backticks run at the end,
with the arguments that WITH_ARGUMENTS gives them. A command that this script does not know fails it, so a new one cannot be forgotten.

    tests/operations/run.py --server target/release/audit-server --database postgres
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "deployment"))

import postgres
import processes

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs/operations.md"
# A step takes seconds; one that hangs fails.
STEP_SECONDS_MAX = 120
# The steps from nothing to an installation that is protected by TLS, backed up and monitored.
NEW_USER = ["Database", "Keys", "First start", "TLS", "Backups", "Anchors", "Check the deployment", "Watch", "Prometheus", "Daily checks"]
# The databases, and the first line of a block that is for one of them.
MARKS = {"sqlite": "# SQLite", "postgres": "# PostgreSQL"}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def steps(text, database):
    """The commands of the blocks for a database: heading and command, which may have several lines."""
    heading, is_block, is_wanted, found = "", False, True, []
    others = [mark for name, mark in MARKS.items() if name != database]
    for line in text.splitlines():
        if line.startswith("## ") and not is_block:
            heading = line[3:]
        elif line.strip() == "```sh":
            is_block, is_wanted, command = True, True, ""
        elif line.strip() == "```" and is_block:
            is_block = False
        elif is_block:
            if line.strip() in MARKS.values():
                is_wanted = line.strip() not in others
                continue
            command += line.strip()
            if command.endswith("\\"):
                command = command[:-1]
            elif command:
                if is_wanted:
                    found.append((heading, command))
                command = ""
    return found


def quoted(text):
    """The commands between backticks, without the blocks."""
    outside = re.sub(r"```sh\n.*?```", "", text, flags=re.S)
    return sorted(set(re.findall(r"`(audit-server [^`\n]+)`", outside)))


class Installation:
    def __init__(self, server, folder, database):
        self.folder = pathlib.Path(folder)
        self.database = database
        self.server = self.postgres = self.prometheus = None
        self.has_prometheus = shutil.which("prometheus") is not None
        ports = {name: f"127.0.0.1:{free_port()}" for name in ("tls", "plain", "metrics", "prometheus")}
        self.plain = ports["plain"]
        for name in ("lib", "etc", "backups", "anchors", "auditor", "bin"):
            (self.folder / name).mkdir()
        (self.folder / "bin/audit-server").symlink_to(server)
        self.replaced = [
            ("/var/lib/audit-server", str(self.folder / "lib")),
            ("/var/lib/auditor", str(self.folder / "auditor")),
            ("/var/backups/audit", str(self.folder / "backups")),
            ("/etc/audit-server", str(self.folder / "etc")),
            ("/mnt/anchors", str(self.folder / "anchors")),
            ("0.0.0.0:8443", ports["tls"]),
            ("127.0.0.1:8080", ports["plain"]),
            ("127.0.0.1:9090", ports["metrics"]),
            # The certificate of this script is in no list of authorities.
            (" --url https://audit.example", f" --url http://{ports['plain']}"),
        ]
        self.metrics, self.prometheus_address = ports["metrics"], ports["prometheus"]
        self.environment = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "AUDIT_LISTEN": ports["plain"],
            "AUDIT_METRICS_LISTEN": ports["metrics"],
        }
        self.certificate()
        if database == "postgres":
            self.start_postgres()

    def start_postgres(self):
        """What the operations team has from its database team: a server, and a superuser without a password."""
        # PostgreSQL runs as another user and must reach its directory.
        self.folder.chmod(0o711)
        # doctor reports a server that does not sync.
        self.postgres = postgres.Server(str(self.folder), "postgres", settings={"fsync": "on"})
        self.postgres.create()
        self.postgres.start()
        self.postgres.wait_ready()
        self.postgres.query("CREATE ROLE postgres SUPERUSER LOGIN", "postgres")
        programs = os.path.dirname(processes.program("createdb"))
        self.environment["PATH"] = f"{self.folder / 'bin'}:{programs}:{os.environ['PATH']}"
        port = self.postgres.port
        # First: the URL has one of the paths that are replaced.
        self.replaced[:0] = [
            # A cluster of tests has no certificate.
            ("db.example/audit_server?sslmode=verify-full&sslrootcert=/etc/audit-server/db-ca.pem", f"127.0.0.1:{port}/audit_server"),
            ("--host=db.example", f"--host=127.0.0.1 --port={port}"),
        ]

    def end(self):
        """Ends everything, whatever state it is in."""
        for process in (self.server, self.prometheus):
            if process is not None:
                process.kill()
        if self.postgres is not None:
            self.postgres.stop()

    def certificate(self):
        """What an operator has from an authority."""
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "90",
             "-subj", "/CN=localhost", "-keyout", self.folder / "etc/tls.key", "-out", self.folder / "etc/tls.crt"],
            check=True, capture_output=True)
        os.chmod(self.folder / "etc/tls.key", 0o600)

    def replace(self, command):
        for written, here in self.replaced:
            command = command.replace(written, here)
        return command

    def run(self, command, may_fail=()):
        """Runs a command in the environment, and keeps what it exports. Returns its output."""
        command = self.replace(command)
        if command.startswith("audit-server serve"):
            return self.serve(command)
        kept = self.folder / "environment"
        script = f"set -eu\n{command}\nenv -0 > {shlex.quote(str(kept))}\n"
        done = subprocess.run(["sh", "-c", script], env=self.environment, cwd=self.folder, text=True,
                              capture_output=True, timeout=STEP_SECONDS_MAX)
        if done.returncode in may_fail:
            return done.stdout
        if done.returncode != 0:
            sys.exit(f"{command}\nends with {done.returncode}\n{done.stdout}{done.stderr}")
        for entry in kept.read_text().split("\0"):
            name, separator, value = entry.partition("=")
            if separator and (name.startswith("AUDIT") or name == "SECRETS"):
                self.environment[name] = value
        return done.stdout

    def serve(self, command):
        self.stop()
        self.log = open(self.folder / "server.log", "w+")
        self.server = subprocess.Popen(shlex.split(command), env=self.environment, cwd=self.folder, text=True,
                                       stdout=subprocess.PIPE, stderr=self.log)
        for line in self.server.stdout:
            if line.startswith("listening on "):
                return line
        self.log.seek(0)
        sys.exit(f"{command}\ndoes not start\n{self.log.read()}")

    def stop(self):
        if self.server is not None:
            self.server.send_signal(signal.SIGTERM)
            if self.server.wait(STEP_SECONDS_MAX) != 0:
                self.log.seek(0)
                sys.exit(f"the server ends with {self.server.returncode}\n{self.log.read()}")
            self.server = None

    def command_json(self, *arguments):
        done = subprocess.run(["audit-server", *arguments, "--json"], env=self.environment, cwd=self.folder, text=True,
                              capture_output=True, timeout=STEP_SECONDS_MAX)
        if done.returncode != 0:
            sys.exit(f"audit-server {' '.join(arguments)}\n{done.stderr}")
        return json.loads(done.stdout)

    def wait_for_backup(self):
        """The server makes the first one when it starts."""
        if self.database == "sqlite":
            backups = self.folder / "backups"
            processes.wait_until(lambda: any(backups.glob("audit-*.db")), STEP_SECONDS_MAX, "the server makes a backup")

    def learn_keys(self, printed):
        """The application's key, and the ids of what was created."""
        self.key = re.search(r"pk_live_\w+", printed)[0]
        self.organization = next(one for one in self.command_json("org", "list") if one["name"] == "example")
        self.project = self.environment["PROJECT_ID"] = self.organization["projects"][0]["id"]

    def new_key(self):
        return self.command_json("key", "create", "--project", self.project, "--name", "another")["id"]

    def store_event(self):
        event = {"action": "user.created", "category": "mutation", "tenant_id": "acme",
                 "actor": {"id": "user_1", "type": "user"}}
        request = urllib.request.Request(
            f"http://{self.plain}/api/v1/events", json.dumps(event).encode(),
            {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=STEP_SECONDS_MAX) as response:
            assert response.status == 201

    def watch(self):
        """Starts Prometheus with the job of deploy/README.md and the alert rules, and waits until it has the metrics."""
        readme = (ROOT / "deploy/README.md").read_text()
        job = re.search(r"```yaml\n(rule_files:.*?)```", readme, re.S)[1]
        job = job.replace("audit-server/rules.yml", str(ROOT / "deploy/prometheus/rules.yml"))
        job = re.sub(r"targets: \[.*?\]", f'targets: ["{self.metrics}"]', job)
        configuration = self.folder / "prometheus.yml"
        configuration.write_text(job)
        subprocess.run(["promtool", "check", "config", configuration], check=True, capture_output=True)
        with open(self.folder / "prometheus.log", "w") as log:
            self.prometheus = subprocess.Popen(
                ["prometheus", f"--config.file={configuration}", f"--storage.tsdb.path={self.folder / 'prometheus'}",
                 f"--web.listen-address={self.prometheus_address}"], stdout=log, stderr=log)
        processes.wait_until(lambda: self.prometheus_has("up == 1"), STEP_SECONDS_MAX, "Prometheus reaches the server")
        if not self.prometheus_has("audit_checkpoint_last_timestamp_seconds > 0"):
            sys.exit("Prometheus does not have the metrics of the server")

    def prometheus_has(self, query):
        url = f"http://{self.prometheus_address}/api/v1/query?query={urllib.parse.quote(query)}"
        try:
            with urllib.request.urlopen(url, timeout=STEP_SECONDS_MAX) as response:
                return json.load(response)["data"]["result"]
        except OSError:
            return []


def with_arguments(installation):
    """The arguments of the commands between backticks that need some, and the exit codes that are right."""
    state = installation.folder / "auditor/audit.state"
    master = ["master-key", "list", "--organization", installation.organization["id"]]
    master_key = lambda: installation.command_json(*master)[0]["id"]
    new_master_key = lambda: installation.command_json(
        "master-key", "create", "--organization", installation.organization["id"])["id"]
    return {
        "audit-server key list": lambda: f"--project {installation.project}",
        "audit-server key revoke": installation.new_key,
        "audit-server key rotate": installation.new_key,
        "audit-server key trace": installation.new_key,
        "audit-server master-key revoke": new_master_key,
        "audit-server master-key rotate": master_key,
        "audit-server log compare": lambda: f"{state} {state}",
    }


# Commands that work without arguments. An added one must be put here or above.
WITHOUT_ARGUMENTS = {
    "audit-server log new-name",
    "audit-server log repair",
    "audit-server log rotate-key",
    "audit-server log verify",
    "audit-server log verify --index",
    "audit-server org list",
    "audit-server secrets status",
    "audit-server viewer-secret rotate",
}


def check_findings(printed):
    """After the steps of the document, doctor has notes, and at most the finding that the disk of this machine is almost full."""
    found = [line for line in printed.splitlines() if line.startswith(("warning", "error")) and " has " not in line.partition(" disks: ")[2]]
    if found:
        sys.exit("doctor has findings:\n" + "\n".join(found))


def before(installation, heading, command):
    """What the text asks for besides the commands."""
    if heading == "Check the deployment":
        installation.wait_for_backup()
    if heading == "Watch":
        installation.store_event()
    if heading == "Rotation of the encryption key":
        # A single node: the text says to restart it with both keys, which is what its next start does.
        installation.stop()
    if heading == "When a key leaked" and "KEY_ID" not in installation.environment:
        installation.environment["KEY_ID"] = installation.new_key()


def run(installation):
    """Runs everything. Returns the seconds of each heading, in order."""
    text = DOCUMENT.read_text()
    seconds = {}
    for heading, command in steps(text, installation.database):
        heading = heading or "Database"
        before(installation, heading, command)
        is_doctor = command.startswith("audit-server doctor")
        started = time.monotonic()
        printed = installation.run(command, (1,) if is_doctor else ())
        seconds[heading] = seconds.get(heading, 0) + time.monotonic() - started
        if is_doctor:
            check_findings(printed)
        if "org create" in command:
            installation.learn_keys(printed)
        if "key create" in command:
            installation.environment["AUDITOR_KEY"] = re.search(r"pk_live_\w+", printed)[0]
        if heading == "Watch" and "log audit" in command and installation.has_prometheus:
            started = time.monotonic()
            installation.watch()
            seconds["Prometheus"] = time.monotonic() - started
    installation.stop()
    arguments = with_arguments(installation)
    for command in quoted(text):
        if command not in WITHOUT_ARGUMENTS and command not in arguments:
            sys.exit(f"tests/operations/run.py does not know `{command}` of docs/operations.md")
        added = arguments[command]() if command in arguments else ""
        installation.run(f"{command} {added}")
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the audit-server program")
    parser.add_argument("--database", choices=sorted(MARKS), default="sqlite", help="default: sqlite")
    parser.add_argument("--require-prometheus", action="store_true", help="fail instead of leaving it out")
    options = parser.parse_args()
    # So that a run that is ended ends its processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="operations-") as folder:
        installation = Installation(pathlib.Path(options.server).resolve(), folder, options.database)
        if not installation.has_prometheus:
            print("SKIPPED: prometheus is not installed", flush=True)
            if options.require_prometheus:
                sys.exit(1)
        try:
            seconds = run(installation)
        finally:
            installation.end()
    for heading, taken in seconds.items():
        mark = "*" if heading in NEW_USER else " "
        print(f"{mark} {taken:7.2f} s  {heading}")
    whole = sum(taken for heading, taken in seconds.items() if heading in NEW_USER)
    print(f"  {whole:7.2f} s  from nothing to TLS, backups and checks (*)")


main()
