"""The receivers of the drill of destinations, as processes that are stopped and started again on the same port."""

import base64
import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys

import boto3
import postgres
import processes

BUCKET = "audit"
# The name of the service in its client certificate.
CLIENT = "audit-log"
# A record is shorter.
LINE_BYTES_MAX = 1 << 20
# The programs, and the libraries that an installation may lack.
DEBIAN_PACKAGES = (
    *("rsyslog", "rsyslog-gnutls", "syslog-ng-core"),
    *("libestr0", "libfastjson4", "libivykis0", "libnet1", "libpcre3", "libwrap0"),
)
OBJECT = re.compile(r"(?P<run>.+/run=\d+)/date=[\d-]+/hour=\d\d/(?P<first>\d{12})-(?P<last>\d{12})-\d+\.jsonl\.gz$")


def debian_programs(tools):
    """The directory with Debian's rsyslog and syslog-ng: the root if both are installed, else one into which their packages are
    unpacked."""
    if all(os.path.exists(f"/usr/sbin/{name}") for name in ("rsyslogd", "syslog-ng")):
        return "/"
    root = os.path.join(tools, "debian")
    if not os.path.exists(root):
        packages = os.path.join(tools, "packages")
        os.makedirs(packages, exist_ok=True)
        subprocess.run(["apt-get", "download", "-q", *DEBIAN_PACKAGES], cwd=packages, check=True, capture_output=True)
        for name in os.listdir(packages):
            processes.run(["dpkg", "-x", os.path.join(packages, name), f"{root}.new"])
        os.rename(f"{root}.new", root)
    return root


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Receiver:
    """A process with a folder."""

    # The signal that stops it, and the one that lets it go on; without one it is started again.
    stop_signal = signal.SIGKILL
    go_on_signal = None
    is_bucket = False

    def __init__(self, name, folder):
        self.name = name
        self.folder = os.path.join(folder, name)
        os.mkdir(self.folder)
        self.port = postgres.free_port()
        self.process = None
        self.is_up = False

    def start(self):
        log = os.path.join(self.folder, "log")
        self.process = processes.start(self.command(), log, environment={**os.environ, **self.environment()})

        def is_ready():
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.name} has ended: {read(log)[-1000:]}")
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return True
            except OSError:
                return False

        processes.wait_until(is_ready, 60, f"{self.name} listens")
        self.is_up = True

    def go_down(self):
        self.process.send_signal(self.stop_signal)
        if self.go_on_signal is None:
            self.process.wait(60)
        self.is_up = False

    def come_up(self):
        if self.go_on_signal is None:
            self.start()
        else:
            self.process.send_signal(self.go_on_signal)
            self.is_up = True

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def environment(self):
        return {}

    def records(self):
        """The texts of the records, in the order of their arrival."""
        path = os.path.join(self.folder, "records.jsonl")
        return read(path).splitlines() if os.path.exists(path) else []

    def problems(self):
        return []


class HttpReceiver(Receiver):
    """A `receiver_server.py`."""

    def __init__(self, kind, name, folder, authority, days=(-1, 1)):
        super().__init__(name, folder)
        self.kind = kind
        self.secret = "whsec_" + base64.b64encode(os.urandom(32)).decode()
        self.certificate, self.key = authority.issue(name, ["127.0.0.1"], days)

    def command(self):
        options = {
            "kind": self.kind,
            "port": self.port,
            "folder": self.folder,
            "certificate": self.certificate,
            "key": self.key,
            "secret": self.secret,
        }
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "receiver_server.py")
        return [sys.executable, program, json.dumps(options)]

    def start(self):
        # A process that is killed may have written a part of a line.
        path = os.path.join(self.folder, "records.jsonl")
        if os.path.exists(path):
            with open(path, "rb+") as file:
                begin = file.seek(max(0, os.path.getsize(path) - LINE_BYTES_MAX))
                file.truncate(begin + file.read().rfind(b"\n") + 1)
        super().start()

    def behave(self, **behaviour):
        """As `receiver_server.py` describes."""
        path = os.path.join(self.folder, "behaviour.json")
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            json.dump(behaviour, file)
        os.replace(f"{path}.new", path)

    def destination(self):
        """What differs in the body that creates the destination."""
        url = f"https://127.0.0.1:{self.port}"
        return {
            "https": {"settings": {"url": f"{url}/in"}, "credentials": {"signing_secret": self.secret}},
            "splunk_hec": {"settings": {"url": url, "index": "audit"}, "credentials": {"token": self.secret}},
            "datadog": {
                "settings": {"url": f"{url}/api/v2/logs"},
                "credentials": {"api_key": self.secret},
                "format": "ocsf",
                "include_raw": True,
            },
            "otlp": {"settings": {"url": url}, "credentials": {"headers": {"authorization": f"Bearer {self.secret}"}}},
        }[self.kind]

    def problems(self):
        """What contradicts a format, and message ids with two contents."""
        path = os.path.join(self.folder, "problems.txt")
        problems = read(path).splitlines() if os.path.exists(path) else []
        digests = {}
        path = os.path.join(self.folder, "requests.jsonl")
        for identifier, digest in map(json.loads, read(path).splitlines() if os.path.exists(path) else []):
            if digests.setdefault(identifier, digest) != digest:
                problems.append(f"{identifier} has two contents")
        return problems


class SyslogReceiver(Receiver):
    """A program of Debian that takes syslog over TLS from clients with a certificate. It is stopped as an operator does."""

    kind = "syslog"
    stop_signal = signal.SIGTERM

    def __init__(self, folder, authority, root, client_days=(-1, 1)):
        used = sum(name.startswith(self.program) and not name.endswith((".pem", ".key")) for name in os.listdir(folder))
        super().__init__(f"{self.program}-{used}" if used else self.program, folder)
        self.root = root
        self.libraries = os.path.join(root, "usr/lib/x86_64-linux-gnu")
        self.authority = authority
        self.certificate, self.key = authority.issue(self.name, ["127.0.0.1"])
        self.client = authority.issue(f"{self.name}-client", [CLIENT], client_days)
        self.config = os.path.join(self.folder, "config")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(self.configuration())

    def environment(self):
        folders = [self.libraries, os.path.join(self.root, "usr/lib/syslog-ng"), os.path.join(self.root, "lib/x86_64-linux-gnu")]
        return {} if self.root == "/" else {"LD_LIBRARY_PATH": ":".join(folders)}

    def destination(self):
        certificate, key = self.client
        return {
            "settings": {"host": "127.0.0.1", "port": self.port, "ca": read(self.authority.file)},
            "credentials": {"client_certificate": read(certificate), "client_key": read(key)},
        }


class Rsyslog(SyslogReceiver):
    """As `docs/destinations/syslog.md` configures it."""

    program = "rsyslog"

    def configuration(self):
        return f"""
global(
  maxMessageSize="64k"
  workDirectory="{self.folder}"
  DefaultNetstreamDriverCAFile="{self.authority.file}"
  DefaultNetstreamDriverCertFile="{self.certificate}"
  DefaultNetstreamDriverKeyFile="{self.key}"
)
module(load="imtcp" StreamDriver.Name="gtls" StreamDriver.Mode="1"
       StreamDriver.AuthMode="x509/name" PermittedPeer=["{CLIENT}"])
template(name="record" type="string" string="%msg%\\n")
ruleset(name="audit") {{
  action(type="omfile" file="{self.folder}/records.jsonl" template="record")
}}
input(type="imtcp" address="127.0.0.1" port="{self.port}" ruleset="audit")
"""

    def command(self):
        modules = os.path.join(self.libraries, "rsyslog")
        pid = os.path.join(self.folder, "pid")
        return [os.path.join(self.root, "usr/sbin/rsyslogd"), "-n", "-f", self.config, "-i", pid, "-M", modules]


class SyslogNg(SyslogReceiver):
    """As `docs/destinations/syslog.md` configures it."""

    program = "syslog-ng"

    def configuration(self):
        return f"""
@version: 3.38
source s_audit {{
  syslog(ip("127.0.0.1") port({self.port}) transport("tls")
    tls(key-file("{self.key}") cert-file("{self.certificate}")
        ca-file("{self.authority.file}") peer-verify(required-trusted)));
}};
destination d_audit {{ file("{self.folder}/records.jsonl" template("${{MESSAGE}}\\n")); }};
log {{ source(s_audit); destination(d_audit); }};
"""

    def command(self):
        program = os.path.join(self.root, "usr/sbin/syslog-ng")
        modules = os.path.join(self.root, "usr/lib/syslog-ng/3.38")
        files = [f"--{name}={os.path.join(self.folder, name)}" for name in ("pidfile", "persist-file", "control")]
        return [program, "--foreground", "--no-caps", f"--cfgfile={self.config}", f"--module-path={modules}", *files]


class Bucket(Receiver):
    """A server of the S3 API. An object that is there is never written again, so each position must be there once."""

    kind = "s3"
    is_bucket = True

    def client(self):
        return boto3.client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{self.port}",
            region_name="us-east-1",
            aws_access_key_id="drill",
            aws_secret_access_key="drill-secret",
        )

    def create(self):
        processes.wait_until(self.try_create, 60, f"{self.name} has its bucket")

    def try_create(self):
        try:
            self.client().create_bucket(Bucket=BUCKET)
            return True
        except Exception:  # pylint: disable=broad-except
            # SeaweedFS listens before it can store.
            return False

    def destination(self):
        return {
            "settings": {"url": f"http://127.0.0.1:{self.port}/{BUCKET}/log", "region": "us-east-1"},
            "credentials": {"access_key": "drill", "secret_key": "drill-secret"},
        }

    def objects(self):
        """Names and lines, by name: within an hour that is the order of positions."""
        client = self.client()
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
        names = sorted(entry["Key"] for page in pages for entry in page.get("Contents", ()))
        for name in names:
            body = client.get_object(Bucket=BUCKET, Key=name)["Body"].read()
            yield name, gzip.decompress(body).decode().splitlines()

    def records(self):
        return [line for _, lines in self.objects() for line in lines]

    def problems(self):
        """Names that do not follow each other, or do not have the range of the positions in the object."""
        problems, expected = [], {}
        for name, lines in self.objects():
            found = OBJECT.search(name)
            if not found:
                problems.append(f"{name} is the name of no batch")
                continue
            first, last, run = int(found["first"]), int(found["last"]), found["run"]
            positions = [json.loads(line)["stream"]["position"] for line in lines]
            if first != expected.get(run, 1) or positions != list(range(first, last + 1)):
                problems.append(f"{name} does not begin with {expected.get(run, 1)}, or has other positions")
            expected[run] = last + 1
        return problems


class Moto(Bucket):
    """Keeps objects in memory, so it is frozen instead of killed."""

    stop_signal, go_on_signal = signal.SIGSTOP, signal.SIGCONT

    def __init__(self, folder, name="moto"):
        super().__init__(name, folder)

    def command(self):
        return [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]


class SeaweedFs(Bucket):
    """Master, volume server, filer and S3 API in one process, with the data in its folder."""

    def __init__(self, folder):
        super().__init__("seaweedfs", folder)
        # It also takes each of its ports plus 10,000.
        self.ports = [self.free_pair() for _ in range(3)]
        self.port = self.free_pair()
        identity = {
            "name": "drill",
            "credentials": [{"accessKey": "drill", "secretKey": "drill-secret"}],
            "actions": ["Admin", "Read", "Write", "List"],
        }
        with open(os.path.join(self.folder, "s3.json"), "w", encoding="utf-8") as file:
            json.dump({"identities": [identity]}, file)

    @staticmethod
    def free_pair():
        while True:
            port = postgres.free_port() - 10_000
            with socket.socket() as listener:
                try:
                    listener.bind(("127.0.0.1", port))
                    return port
                except OSError:
                    continue

    def command(self):
        program = os.path.join(os.path.dirname(sys.executable), "weed")
        master, volume, filer = self.ports
        return [
            *(program, "server", f"-dir={self.folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-volume.max=20"),
            *(f"-master.port={master}", f"-volume.port={volume}", "-filer", f"-filer.port={filer}"),
            *("-s3", f"-s3.port={self.port}", "-s3.port.iceberg=0", "-s3.port.lance=0", "-s3.iam=false"),
            *(f"-s3.config={self.folder}/s3.json", "-master.telemetry=false"),
        ]
