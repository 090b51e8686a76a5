"""The attacked server: a fresh one for each attack, with a database of its own."""

import os

import processes
import scene as scenes
import service

# What the victim has stored before an attack.
VICTIM_EVENTS = 1_000


class Target:
    """A running server with two organizations."""

    def __init__(self, options, database, folder, attack, sources):
        self.database = database
        self.name = attack.name
        self.url = database.url(self.name)
        binary = options.server
        attacker, victim = (service.create_organization(binary, self.url, party) for party in ("attacker", "victim"))
        authority = os.path.join(folder, "ca.pem") if options.tls or attack.needs_tls else None
        settings = {"AUDIT_SELF_AUDIT": options.self_audit, **webhook_settings(folder), **attack.settings(folder)}
        if authority:
            settings["AUDIT_TLS_CERTIFICATE"] = os.path.join(folder, "receiver.pem")
            settings["AUDIT_TLS_KEY"] = os.path.join(folder, "receiver.key")
        prefix = silent_resolver(folder) if attack.needs_silent_resolver else ()
        self.node = service.Node(
            self.name, binary, self.url, folder, settings=settings, authority=authority, prefix=prefix
        )
        self.node.start()
        self.scene = scenes.Scene(
            self.node.address, party(attacker), party(victim), folder, sources, options.smoke, authority
        )
        self.scene.create_viewer_token(self.scene.attacker)
        self.scene.create_viewer_token(self.scene.victim)
        self.scene.store(self.scene.victim, [scenes.event(number) for number in range(VICTIM_EVENTS)])

    def is_running(self):
        return self.node.process.poll() is None

    def memory_mib(self):
        """Present and peak resident memory of the server. None when it has ended."""
        return processes.memory_mib(self.node.process.pid)

    def stop(self):
        self.node.stop()
        self.database.drop(self.name)


def webhook_settings(folder):
    authority = os.path.join(folder, "ca.pem")
    if not os.path.exists(authority):
        return {}
    return {"AUDIT_WEBHOOK_ALLOW_PRIVATE": "true", "AUDIT_WEBHOOK_CA_FILE": authority}


def silent_resolver(folder):
    """A command that executes another one in a mount namespace in which names are resolved by the attacker's address."""
    path = os.path.join(folder, "resolv.conf")
    with open(path, "w", encoding="ascii") as file:
        file.write(f"nameserver {scenes.ATTACKER_ADDRESS}\n")
    script = f'mount --bind {path} /etc/resolv.conf && exec "$@"'
    return ["unshare", "--mount", "sh", "-c", script, "sh"]


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
