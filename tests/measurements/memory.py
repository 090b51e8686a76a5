#!/usr/bin/env python3
"""How much memory the commands use that read what somebody else made, each with 1 GiB of its worst.

    tests/measurements/memory.py --server target/release/audit-server

Prints a table for docs/design/limits.md. The exit code is 1 if a command used more than --mib-max, was killed, or ended with success. Python's
standard library only.
"""

import argparse
import http.server
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import zlib

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "deployment"))

import service

BYTES = 1 << 30
BLOCK_BYTES = 1 << 20
# Only bounds a hang.
SECONDS_MAX = 240


class Files:
    """Files of 1 GiB, one at a time: a name and blocks of its content."""

    def __init__(self, folder):
        self.folder = folder

    def create(self, name, start, block):
        """`start`, then `block` again and again."""
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(start)
            block = block * max(1, BLOCK_BYTES // len(block))
            while file.tell() < BYTES:
                file.write(block)
        return path

    def records(self, name):
        """Records of a destination, the newest first: each waits for all that follow."""
        path = os.path.join(self.folder, name)
        line = b'{"unmapped":{"content_hash":"sha256:%s","stream":{"destination":"d","log":"l","run":0,"position":%d}}}\n'
        with open(path, "wb") as file:
            position = BYTES
            while file.tell() < BYTES:
                numbers = range(position, position - 10_000, -1)
                file.write(b"".join(line % (b"0" * 64, number) for number in numbers))
                position -= 10_000
        return path

    def sparse(self, name):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.truncate(BYTES)
        return path

    def directory_of_zip(self, name):
        """An archive whose directory has as many entries as fit."""
        head = struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0)
        entry_bytes = len(head) + 8
        count = BYTES // entry_bytes
        path, end = os.path.join(self.folder, name), 4 + count * entry_bytes
        with open(path, "wb") as file:
            file.write(b"PK\3\4")
            for first in range(0, count, 10_000):
                file.write(b"".join(head + b"%08x" % number for number in range(first, min(first + 10_000, count))))
            file.write(struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, count, count, count * entry_bytes, 4))
            file.write(struct.pack("<IIQI", 0x07064B50, 0, end, 1))
            file.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))
        return path

    def inflating_zip(self, name):
        """An archive with the files of `log export`, each of which inflates to 1 GiB of one line."""
        names = ["README.txt", "SHA256SUMS", "checkpoint.txt", "events.jsonl", "key.txt", "proofs.jsonl", "range.txt"]
        compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
        checksum, data, block = 0, [], b"a" * BLOCK_BYTES
        for _ in range(BYTES // BLOCK_BYTES):
            checksum = zlib.crc32(block, checksum)
            data.append(compressor.compress(block))
        data = b"".join(data) + compressor.flush()
        path, directory = os.path.join(self.folder, name), b""
        with open(path, "wb") as file:
            for entry in names:
                offset = file.tell()
                common = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0x21, checksum, len(data), BYTES, len(entry), 0)
                file.write(b"PK\3\4" + common + entry.encode() + data)
                directory += b"PK\1\2" + struct.pack("<H", 20) + common
                directory += struct.pack("<HHHII", 0, 0, 0, 0, offset) + entry.encode()
            end = file.tell()
            file.write(directory)
            file.write(b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, len(names), len(names), len(directory), end, 0))
        return path


class Endless(http.server.BaseHTTPRequestHandler):
    """Responds to every request with 1 GiB of an open JSON text."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        try:
            length = int(self.headers.get("Content-Length", "0"))
            self.rfile.read(length)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(BYTES))
            self.end_headers()
            self.wfile.write(b'{"events":["')
            for _ in range(BYTES // BLOCK_BYTES):
                self.wfile.write(b"a" * BLOCK_BYTES)
        except OSError:
            # The client has read enough.
            self.close_connection = True

    do_POST = do_GET

    def log_message(self, *_):
        pass


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def measure(command, environment):
    """Exit status, peak of resident memory in MiB, and the last line of a command."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        timer = threading.Timer(SECONDS_MAX, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        lines = output.read()[-2000:].decode("utf-8", "replace").strip().splitlines()
    return process.returncode, usage.ru_maxrss / 1024, lines[-1][:100] if lines else ""


def completeness(binary, environment, folder, project_key):
    """A file with a real response of `GET /log/completeness`: without one, the events beside it are not read."""
    node = service.Node("memory", binary, environment["AUDIT_DATABASE_URL"], folder)
    node.start()
    try:
        if service.store_event(node, project_key) != 201:
            raise RuntimeError(f"no event is stored: {node.tail()}")
        body = service.Connection(node).get("/api/v1/log/completeness?tenant_id=drill", project_key)
    finally:
        node.end()
    path = os.path.join(folder, "completeness.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(body, file)
    return path


def cases(files, folder, key, project_key, project, document):
    """Of each case: what is read, and a function that makes it and returns the arguments."""
    url = serve()
    proof = b"c2sp.org/tlog-proof@v1\n"
    anchor = b"audit-server anchor v2\n"
    small = os.path.join(folder, "small")
    with open(small, "wb") as file:
        file.write(b"{}")
    check = ["check", "--key", key]
    audit = ["log", "audit", "--url", url, "--key", project_key]

    def key_file(name):
        return ["secrets", "status", name, files.create("keys", b"", b"a")]

    return [
        ("`import`, lines that are no events", lambda: ["import", "--project", project, files.create("a", b"", b"{\"action\":\"%s\"}\n" % (b"A" * 500))]),
        ("`import`, one line", lambda: ["import", "--project", project, files.create("a", b'{"action":"', b"a")]),
        ("`import`, one line of `[`", lambda: ["import", "--project", project, files.create("a", b"", b"[")]),
        ("`import --url`, responses", lambda: ["import", "--url", url, "--key", project_key, small]),
        ("`check`, a proof", lambda: [*check, files.create("a", proof, b"a")]),
        ("`check`, a proof of lines", lambda: [*check, files.create("a", proof, b"\n")]),
        ("`check`, an anchor", lambda: [*check, files.create("a.anchor", anchor, b"a\n")]),
        ("`check`, a document", lambda: [*check, files.create("a", b'{"a":[', b"[")]),
        ("`check`, an archive with a directory of 1 GiB", lambda: [*check, files.directory_of_zip("a.zip")]),
        ("`check`, an archive that inflates", lambda: [*check, files.inflating_zip("a.zip")]),
        ("`check`, zeros as an archive", lambda: [*check, files.create("a.zip", b"PK\3\4", b"\0")]),
        ("`check --events`, one line of `[`", lambda: [*check, "--events", files.create("a", b"", b"["), document]),
        ("`check --events`, lines", lambda: [*check, "--events", files.create("a", b"", b"{}\n"), document]),
        ("`check --rotations`", lambda: [*check, "--rotations", files.create("a", b"", b"\n"), small]),
        ("`check --policy`", lambda: [*check, "--policy", files.create("a", b"", b"log a\n"), small]),
        ("`check --timestamp-ca`", lambda: [*check, "--timestamp-ca", files.create("b", b"", b"a\n"), anchor_of(folder, anchor)]),
        ("`log compare`", lambda: ["log", "compare", files.create("a", b"{", b" "), small]),
        ("`log stream`, records far from their places", lambda: ["log", "stream", files.records("a")]),
        ("`log stream`, one line of `[`", lambda: ["log", "stream", files.create("a", b"", b"[")]),
        ("`log audit`, responses", lambda: [*audit, "--state", os.path.join(folder, "state")]),
        ("`log audit --state`", lambda: [*audit, "--state", files.create("a", b"{", b" ")]),
        ("`restore`", lambda: ["restore", "--database-url", f"sqlite:{folder}/restored.db", files.sparse("a")]),
        ("`restore`, as SQLite", lambda: ["restore", "--database-url", f"sqlite:{folder}/restored.db", files.create("a", b"SQLite format 3\0", b"a")]),
        # Only the status counts.
        ("`health`", lambda: ["health", f"{url}/healthz"], 0),
        ("`--encryption-key-file`", lambda: key_file("--encryption-key-file")),
        ("`--encryption-key-command`", lambda: ["secrets", "status", "--encryption-key-command", f"cat {files.sparse('a')}"]),
        ("`--head-key-file`", lambda: ["log", "key", "--head-key-file", files.create("a", b"", b"a")]),
        ("`--tls-certificate`", lambda: ["serve", "--tls-certificate", files.create("a", b"", b"a\n"), "--tls-key", small]),
        ("`--webhook-ca-file`", lambda: ["serve", "--webhook-ca-file", files.create("a", b"", b"a\n")]),
    ]


def anchor_of(folder, start):
    path = os.path.join(folder, "small.anchor")
    with open(path, "wb") as file:
        file.write(start)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", required=True, help="path of audit-server")
    parser.add_argument("--mib-max", type=float, default=256, help="Default: 256")
    parser.add_argument("case", nargs="*", help="words of the cases. Default: all")
    options = parser.parse_args()
    binary = os.path.realpath(options.server)
    folder = tempfile.mkdtemp(prefix="memory-")
    bad = 0
    try:
        environment = {**service.environment(f"sqlite:{folder}/audit.db"), "AUDIT_STATE_DIR": f"{folder}/state"}
        created = service.create_organization(binary, environment["AUDIT_DATABASE_URL"], "memory")
        key = subprocess.run([binary, "log", "key"], env=environment, check=True, capture_output=True, text=True).stdout.strip()
        document = completeness(binary, environment, folder, created["project_key"])
        every = cases(Files(folder), folder, key, created["project_key"], created["project_id"], document)
        print("| Reads 1 GiB | Peak, MiB | Exit code | It says |\n|---|---|---|---|")
        for name, arguments, *expected in every:
            if options.case and not any(word in name for word in options.case):
                continue
            status, mib, said = measure([binary, *arguments()], environment)
            is_bad = mib > options.mib_max or (status not in expected if expected else status <= 0)
            bad += is_bad
            print(f"| {name} | {mib:.0f} | {status} | {said}{' **bad**' if is_bad else ''} |", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
