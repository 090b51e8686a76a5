#!/usr/bin/env python3
"""A server that answers every request with the example of the OpenAPI document, and reports what a client has not used.

    python3 routes.py [--openapi ../../docs/openapi.json]

It prints one line of JSON, `{"base_url": …}`, and ends after the response to `POST /__report`, which has the list `problems`: routes,
parameters and members that the client has never sent, and those that the document does not declare. README.md describes it.
"""

import argparse
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Dict

from kit.routes import Routes

OPENAPI = Path(__file__).parents[2] / "docs" / "openapi.json"
# A runner that never reports does not leave a process behind.
LIFETIME_SECONDS_MAX = 300


class Handler(BaseHTTPRequestHandler):
    """One connection. `server.routes` counts."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: standard output belongs to the protocol."""

    def play(self) -> None:
        if "Transfer-Encoding" in self.headers:
            # Nothing reads the chunks, so the connection cannot be used again.
            self.close_connection = True
            error = {"error": {"code": "length_required", "message": "not every proxy takes a request in chunks"}}
            return self.reply(411, "application/json", json.dumps(error).encode())
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/__report":
            self.reply(200, "application/json", json.dumps({"problems": self.server.routes.problems()}).encode())
            self.wfile.flush()
            threading.Thread(target=self.server.shutdown, daemon=True).start()
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.reply(*self.server.routes.answer(self.command, self.path, headers, body))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = play

    def reply(self, status: int, content_type: str, text: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, document: Dict[str, Any]):
        super().__init__(("127.0.0.1", 0), Handler)
        self.routes = Routes(document)


def main() -> int:
    parser = argparse.ArgumentParser(description="The server that has seen which routes a client uses.")
    parser.add_argument("--openapi", type=Path, default=OPENAPI, metavar="FILE")
    document = json.loads(parser.parse_args().openapi.read_text(encoding="utf-8"))
    server = Server(document)
    print(json.dumps({"base_url": f"http://127.0.0.1:{server.server_port}"}), flush=True)
    deadline = threading.Timer(LIFETIME_SECONDS_MAX, server.shutdown)
    deadline.daemon = True
    deadline.start()
    server.serve_forever(poll_interval=0.02)
    return 0


if __name__ == "__main__":
    sys.exit(main())
