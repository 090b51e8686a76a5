"""The attacked server: a fresh one for each attack, with a database of its own."""

import os
import re

import postgres
import processes
import scene as scenes
import service

# What the victim has stored before an attack.
VICTIM_EVENTS = 1_000


class Sqlite:
    """A database file for each attack."""

    def __init__(self, folder):
        self.folder = folder

    def url(self, name):
        return f"sqlite:{os.path.join(self.folder, name)}.db"

    def drop(self, name):
        for ending in ("", "-wal", "-shm"):
            path = f"{os.path.join(self.folder, name)}.db{ending}"
            if os.path.exists(path):
                os.remove(path)

    def stop(self):
        pass


class Postgres:
    """One cluster with a database for each attack."""

    def __init__(self, folder):
        self.server = postgres.Server(folder, "postgres")
        self.server.create()
        self.server.start()
        self.server.wait_ready()

    def url(self, name):
        database = name.replace("-", "_")
        self.server.query(f"CREATE DATABASE {database}", "postgres")
        return f"postgres://{postgres.ROLE}@127.0.0.1:{self.server.port}/{database}"

    def drop(self, name):
        self.server.query(f"DROP DATABASE {name.replace('-', '_')} WITH (FORCE)", "postgres")

    def stop(self):
        self.server.stop()


class Target:
    """A running server with two organizations."""

    def __init__(self, binary, database, folder, name, sources, is_smoke):
        self.database = database
        self.name = name
        self.url = database.url(name)
        attacker, victim = (service.create_organization(binary, self.url, party) for party in ("attacker", "victim"))
        settings = {
            "AUDIT_WEBHOOK_ALLOW_PRIVATE": "true",
            "AUDIT_WEBHOOK_CA_FILE": os.path.join(folder, "ca.pem"),
        }
        if not os.path.exists(settings["AUDIT_WEBHOOK_CA_FILE"]):
            settings = {}
        self.node = service.Node(name, binary, self.url, folder, settings=settings)
        self.node.start()
        self.scene = scenes.Scene(self.node.address, party(attacker), party(victim), folder, sources, is_smoke)
        self.scene.create_viewer_token(self.scene.attacker)
        self.scene.store(self.scene.victim, [scenes.event(number) for number in range(VICTIM_EVENTS)])

    def is_running(self):
        return self.node.process.poll() is None

    def memory_mib(self):
        """Present and peak resident memory of the server. None when it has ended."""
        try:
            with open(f"/proc/{self.node.process.pid}/status", encoding="ascii") as status:
                text = status.read()
        except FileNotFoundError:
            return None
        found = [re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE) for name in ("VmRSS", "VmHWM")]
        return tuple(int(match[1]) / 1024 for match in found) if all(found) else None

    def stop(self):
        self.node.stop()
        self.database.drop(self.name)


def party(created):
    return scenes.Party(created["master_key"], created["project_key"], created["project_id"])


def create_certificates(folder):
    """A certificate authority and a certificate for the receivers. The reason why there is none, else None."""
    subject = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "2"]
    addresses = f"subjectAltName=IP:{scenes.VICTIM_ADDRESS},IP:{scenes.ATTACKER_ADDRESS}"

    def path(name):
        return os.path.join(folder, name)

    authority = ["-subj", "/CN=attacks", "-keyout", path("ca.key"), "-out", path("ca.pem")]
    receiver = ["-subj", "/CN=receiver", "-CA", path("ca.pem"), "-CAkey", path("ca.key"), "-addext", addresses]
    receiver += ["-addext", "basicConstraints=critical,CA:FALSE"]
    try:
        processes.run(["openssl", "req", "-x509", *subject, *authority])
        processes.run(
            ["openssl", "req", "-x509", *subject, *receiver, "-keyout", path("receiver.key"), "-out", path("receiver.pem")]
        )
        return None
    except (OSError, RuntimeError) as error:
        return str(error)
