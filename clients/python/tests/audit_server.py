"""Runs the real server: a SQLite database in a temporary directory, a free port of the loopback address."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Dict, Optional

START_SECONDS_MAX = 60


def binary() -> str:
    """The server to test against. Without one the tests fail: they are worth little then."""
    found = os.environ.get("AUDIT_SERVER_BIN")
    if not found:
        raise RuntimeError("set AUDIT_SERVER_BIN to the path of the audit-server binary")
    return found


class AuditServer:
    """One server. ``stop`` and ``kill`` keep the database; ``start`` continues with it, on the same port."""

    def __init__(self, directory: Path, database: Optional[str] = None) -> None:
        self.url = database or f"sqlite:{directory / 'audit.db'}"
        self.log = directory / "server.log"
        # The tests count events, so the service stores none of its own.
        self.environment = {**os.environ, "AUDIT_DATABASE_URL": self.url, "AUDIT_SELF_AUDIT": "off", "RUST_LOG": "warn"}
        created = subprocess.check_output([binary(), "org", "create", "--name", "test", "--json"], env=self.environment)
        organization: Dict[str, str] = json.loads(created)
        self.organization_id = organization["organization_id"]
        self.master_key = organization["master_key"]
        self.project_key = organization["project_key"]
        self.project_id = organization["project_id"]
        self.address = "127.0.0.1:0"
        self.process: Optional[subprocess.Popen[str]] = None
        self.run("org", "set-plan", self.organization_id, "enterprise")

    def run(self, *arguments: str) -> str:
        return subprocess.check_output([binary(), *arguments], env=self.environment, text=True)

    @property
    def base_url(self) -> str:
        return f"http://{self.address}"

    def start(self) -> "AuditServer":
        arguments = [binary(), "serve", "--listen", self.address]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(arguments, env=self.environment, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            match = re.search(r"listening on http://(\S+)", line)
            if match:
                self.address = match[1]
                return self
        raise RuntimeError(f"the server did not start: {self.log.read_text()[-2000:]}")

    def kill(self) -> None:
        """As if the power failed: SIGKILL."""
        assert self.process is not None
        self.process.kill()
        self.end()

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.end()

    def end(self) -> None:
        assert self.process is not None and self.process.stdout is not None
        self.process.wait(START_SECONDS_MAX)
        self.process.stdout.close()
        self.process = None
