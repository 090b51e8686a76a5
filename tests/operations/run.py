#!/usr/bin/env python3
"""Runs every command of docs/operations.md as it is written, in its order, and prints how long each step takes.

The blocks of commands run in one environment, in which `export` lasts, on SQLite in a temporary folder. Only places are replaced (REPLACED):
paths below /var and /etc, and ports. `audit-server serve` is started, and runs until the next one. The commands between backticks run at the end,
with the arguments that WITH_ARGUMENTS gives them. A command that this script does not know fails it, so a new one cannot be forgotten.

    tests/operations/run.py --server target/release/audit-server
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs/operations.md"
# A step takes seconds; one that hangs fails.
STEP_SECONDS_MAX = 120
# The steps from nothing to an installation that is protected by TLS, backed up and monitored.
NEW_USER = ["Keys", "First start", "TLS", "Check the deployment", "Backups", "Watch", "Daily checks"]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def steps(text):
    """The commands of the blocks: heading and command, which may have several lines."""
    heading, is_block, found = "", False, []
    for line in text.splitlines():
        if line.startswith("## ") and not is_block:
            heading = line[3:]
        elif line.strip() == "```sh":
            is_block, command = True, ""
        elif line.strip() == "```" and is_block:
            is_block = False
        elif is_block:
            command += line.strip()
            if command.endswith("\\"):
                command = command[:-1]
            elif command:
                found.append((heading, command))
                command = ""
    return found


def quoted(text):
    """The commands between backticks, without the blocks."""
    outside = re.sub(r"```sh\n.*?```", "", text, flags=re.S)
    return sorted(set(re.findall(r"`(audit-server [^`\n]+)`", outside)))


class Installation:
    def __init__(self, server, folder):
        self.folder = pathlib.Path(folder)
        self.server = None
        ports = {name: f"127.0.0.1:{free_port()}" for name in ("tls", "plain", "metrics")}
        self.plain = ports["plain"]
        for name in ("lib", "etc", "backups", "auditor", "secrets", "bin"):
            (self.folder / name).mkdir()
        (self.folder / "bin/audit-server").symlink_to(server)
        self.replaced = [
            ("/var/lib/audit-server", str(self.folder / "lib")),
            ("/var/lib/auditor", str(self.folder / "auditor")),
            ("/var/backups/audit", str(self.folder / "backups")),
            ("/etc/audit-server", str(self.folder / "etc")),
            ("0.0.0.0:8443", ports["tls"]),
            ("127.0.0.1:8080", ports["plain"]),
            ("127.0.0.1:9090", ports["metrics"]),
            # The certificate of this script is in no list of authorities.
            ("https://audit.example", f"http://{ports['plain']}"),
        ]
        self.metrics = f"http://{ports['metrics']}/metrics"
        self.environment = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "SECRETS": str(self.folder / "secrets"),
            "AUDIT_LISTEN": ports["plain"],
            "AUDIT_METRICS_LISTEN": ports["metrics"],
        }
        self.certificate()

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
            if separator and name.startswith("AUDIT"):
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

    def learn_keys(self, printed):
        """The auditor's key, and the ids of what was created."""
        self.environment["AUDITOR_KEY"] = re.search(r"pk_live_\w+", printed)[0]
        self.organization = next(one for one in self.command_json("org", "list") if one["name"] == "example")
        self.project = self.organization["projects"][0]["id"]

    def new_key(self):
        return self.command_json("key", "create", "--project", self.project, "--name", "another")["id"]

    def store_event(self):
        event = {"action": "user.created", "category": "mutation", "tenant_id": "acme",
                 "actor": {"id": "user_1", "type": "user"}}
        request = urllib.request.Request(
            f"http://{self.plain}/api/v1/events", json.dumps(event).encode(),
            {"Authorization": f"Bearer {self.environment['AUDITOR_KEY']}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=STEP_SECONDS_MAX) as response:
            assert response.status == 201


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
    "audit-server secrets status",
    "audit-server viewer-secret rotate",
}


def before(installation, heading, command):
    """What the text asks for besides the commands."""
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
    for heading, command in steps(text):
        heading = heading or "Database"
        before(installation, heading, command)
        # doctor has findings here: the certificate is the script's own, and nothing holds anchors.
        may_fail = (1,) if command.startswith("audit-server doctor") else ()
        started = time.monotonic()
        printed = installation.run(command, may_fail)
        seconds[heading] = seconds.get(heading, 0) + time.monotonic() - started
        if "org create" in command:
            installation.learn_keys(printed)
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
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="operations-") as folder:
        installation = Installation(pathlib.Path(options.server).resolve(), folder)
        try:
            seconds = run(installation)
        finally:
            if installation.server is not None:
                installation.server.kill()
    for heading, taken in seconds.items():
        mark = "*" if heading in NEW_USER else " "
        print(f"{mark} {taken:7.2f} s  {heading}")
    whole = sum(taken for heading, taken in seconds.items() if heading in NEW_USER)
    print(f"  {whole:7.2f} s  from nothing to TLS, backups and checks (*)")


main()
