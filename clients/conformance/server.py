#!/usr/bin/env python3
"""The scripted server of the conformance kit. Python 3.9 or later and nothing else.

    python3 server.py --list          prints all cases, a JSON array
    python3 server.py --offers        prints the needs of cases that depend on this machine and that it has, a JSON array
    python3 server.py --case NAME     serves one case on a free port of 127.0.0.1

The second form prints one line of JSON, `{"base_url": …, "case": …}`, serves the case and ends after the response to
`POST /__report`: with exit code 0 if the client conforms, 1 if it does not. README.md describes the protocol.
"""

import argparse
import json
import os
import select
import socket
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict
from urllib.parse import parse_qs, urlsplit

from kit.cases import load
from kit.checks import problems
from kit.disk import Disk, is_offered
from kit.freeze import freeze
from kit.script import Request, Script

# A runner that waits for requests which do not come gets 408 after this time.
WAIT_SECONDS_MAX = 30
# A runner that never reports does not leave a process behind.
LIFETIME_SECONDS_MAX = 300


class Handler(BaseHTTPRequestHandler):
    """One connection. `server.script` is the case."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: standard output belongs to the protocol."""

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path != "/__wait":
            return self.reply(404, {"error": {"code": "not_found", "message": "no such path"}})
        count = int(parse_qs(url.query)["requests"][0])
        has_come = self.server.script.wait(count, WAIT_SECONDS_MAX)
        self.reply(200 if has_come else 408, {"requests": len(self.server.script.requests)})

    def do_POST(self) -> None:
        body = self.body()
        script = self.server.script
        if self.path == "/__release":
            script.release()
            return self.reply(200, {})
        if self.path.startswith("/__freeze?"):
            # The runner, which started this process, with the client in it.
            freeze(os.getppid(), int(parse_qs(urlsplit(self.path).query)["ms"][0]) / 1000)
            return self.reply(200, {})
        if self.path == "/__report":
            return self.report(json.loads(body))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.play(script.arrive(self.path, headers, body))

    # A client that uses another method is refused by the checks, as a request that was not answered as scripted.
    do_PUT = do_PATCH = do_DELETE = do_POST

    def play(self, request: Request) -> None:
        """Does with a request what its step says."""
        script, step = self.server.script, request.step
        fault = step.get("fault")
        if fault == "reset" and not step.get("store"):
            return self.reset(request)
        if fault == "hold" and not self.hold(script):
            return self.reset(request)
        if "delay_ms" in step:
            time.sleep(step["delay_ms"] / 1000)
        status, headers, text = script.answer(request)
        if fault == "reset":
            return self.reset(request)
        is_whole = fault != "truncate"
        request.answered_at = time.monotonic()
        if is_whole and status < 300 and "body" not in step:
            request.settled = [event["metadata"]["n"] for event in request.events]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text if is_whole else text[: len(text) // 2])
        if not is_whole:
            self.wfile.flush()
            self.reset(request)

    def hold(self, script: Script) -> bool:
        """Waits until the runner releases the request (True) or the client closes the connection (False)."""
        while True:
            with script.changed:
                if script.changed.wait_for(lambda: script.is_released, 0.02):
                    return True
            readable, _, _ = select.select([self.connection], [], [], 0)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                return False

    def reset(self, request: Request) -> None:
        """Closes the connection with a TCP reset."""
        if request.answered_at is None:
            request.answered_at = time.monotonic()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def reply(self, status: int, body: Dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def report(self, outcome: Dict[str, Any]) -> None:
        script = self.server.script
        found = problems(script, outcome)
        requests = [{"path": request.path, "events": len(request.events), "status": request.status}
                    for request in script.requests]
        self.reply(200, {"passed": not found, "problems": found, "requests": requests})
        self.wfile.flush()
        self.server.passed = not found
        threading.Thread(target=self.server.shutdown, daemon=True).start()

    def finish(self) -> None:
        """A connection that was reset has nothing to flush."""
        try:
            super().finish()
        except (OSError, ValueError):
            pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, case: Dict[str, Any]):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = Script(case)
        self.passed = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client may close its connection at any time. Everything else is a fault of the kit, and is shown."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        try:
            super().shutdown_request(request)
        except OSError:
            pass  # The connection was reset.


def main() -> int:
    parser = argparse.ArgumentParser(description="The scripted server of the conformance kit for clients.")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--list", action="store_true", help="print all cases as a JSON array")
    action.add_argument("--offers", action="store_true", help="print the needs of cases that depend on this machine and that it has")
    action.add_argument("--case", metavar="NAME", help="serve this case")
    arguments = parser.parse_args()
    cases = {case["name"]: case for case in load()}
    if arguments.list:
        print(json.dumps(list(cases.values()), indent=1))
        return 0
    if arguments.offers:
        print(json.dumps(["disk"] if is_offered() else []))
        return 0
    if arguments.case not in cases:
        parser.error(f"no case {arguments.case!r}; --list shows all")
    case = cases[arguments.case]
    disk = Disk(case["disk_bytes"]) if "disk_bytes" in case else None
    try:
        if disk is not None:
            case["client"]["spool"] = disk.path
        return serve(case)
    finally:
        if disk is not None:
            disk.close()


def serve(case: Dict[str, Any]) -> int:
    server = Server(case)
    print(json.dumps({"base_url": f"http://127.0.0.1:{server.server_port}", "case": case}), flush=True)
    deadline = threading.Timer(LIFETIME_SECONDS_MAX, server.shutdown)
    deadline.daemon = True
    deadline.start()
    server.serve_forever(poll_interval=0.02)
    return 0 if server.passed else 1


if __name__ == "__main__":
    sys.exit(main())
