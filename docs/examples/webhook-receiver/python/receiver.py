"""Receives alert webhooks: verifies them, drops repeats, responds at once.

Run:  python3 -m venv venv && venv/bin/pip install -r requirements.txt
      WEBHOOK_SECRET=whsec_… TLS_CERT=../receiver.pem TLS_KEY=../receiver.key venv/bin/python receiver.py

Without TLS_CERT it speaks plain HTTP on the loopback interface, for a reverse proxy that terminates TLS.
"""

import os
import queue
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

BODY_BYTES_MAX = 64 * 1024

webhook = Webhook(os.environ["WEBHOOK_SECRET"])
messages = queue.Queue()
# In production, both are one database table with the id as its key, committed before the response: the service does not
# send a message again after a 2xx.
seen, seen_lock = set(), threading.Lock()


def receive(headers, body):
    """Returns the response status."""
    try:
        message = webhook.verify(body, headers)
    # A forged header or body can contain anything; the library raises ValueError for some values.
    except (WebhookVerificationError, ValueError) as error:
        print(f"refused: {error}", flush=True)
        return 401
    with seen_lock:
        is_new = headers["webhook-id"] not in seen
        seen.add(headers["webhook-id"])
    if is_new:
        messages.put(message)
    return 204


def work():
    """Slow work, after the response."""
    while message := messages.get():
        data = message["data"]
        if message["type"] == "alert.fired":
            print(f"{data['severity']} alert {data['id']}: {data['rule_name']}, {data['group_key']}", flush=True)
        else:
            print(f"{message['type']}: {data}", flush=True)


class Handler(BaseHTTPRequestHandler):
    timeout = 10  # seconds, for a client that stalls

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or len(length) > 9 or int(length) > BODY_BYTES_MAX:
            return self.respond(413)
        # The raw body: parsed and re-serialized JSON would have another signature.
        body = self.rfile.read(int(length))
        self.respond(receive({name.lower(): value for name, value in self.headers.items()}, body))

    def respond(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


threading.Thread(target=work, daemon=True).start()
server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8443"))), Handler)
if "TLS_CERT" in os.environ:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.environ["TLS_CERT"], os.environ["TLS_KEY"])
    # The handshake runs in the thread of its connection, so that a slow client does not block the others.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(f"receiving on port {server.server_port}", flush=True)
server.serve_forever()
