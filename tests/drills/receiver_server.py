"""A receiver of destinations over HTTPS, which appends the records that it takes to `records.jsonl`, in the order of their arrival.

Usage: receiver_server.py OPTIONS. OPTIONS is JSON with `kind`, `port`, `folder`, `certificate`, `key` and `secret`. `behaviour.json` in
the folder is read at each request, and may have:

| Member | Effect |
|---|---|
| `response` | `[status, body, headers]`: the response to every request; nothing is taken |
| `poison` | a record with this text is refused as the receiver refuses records |
| `throttled` | the part of the requests that are refused because there are too many |
| `bytes_max` | a longer request is too large |

The requests are read by OpenTelemetry's published messages (`otlp`) and the library of Standard Webhooks (`https`), and by the published
formats of Splunk's HTTP Event Collector and Datadog's intake, whose responses it gives. What contradicts a format is a line in
`problems.txt`.
"""

import hashlib
import http.server
import json
import os
import random
import ssl
import sys
import threading
import time

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from standardwebhooks import Webhook, WebhookVerificationError

DATADOG_AGE_SECONDS_MAX = 18 * 3_600
DATADOG_ENTRIES_MAX = 1_000
DATADOG_ENTRY_BYTES_MAX = 1_000_000
BYTES_MAX = {"https": 1_000_000, "splunk_hec": 1_000_000, "datadog": 5_000_000, "otlp": 4 << 20}


class Malformed(Exception):
    """The request is not of the published format."""


def require(condition, what):
    if not condition:
        raise Malformed(what)


class Https:
    """Records as JSON, an array or one a line, signed by Standard Webhooks."""

    throttled = (429, "", {"Retry-After": "1"})
    too_large = (413, "", {})
    taken = (204, "", {})

    @staticmethod
    def refuses_sender(secret, headers, body):
        # The library also reads the body as JSON, so it takes arrays and no lines.
        try:
            Webhook(secret).verify(body, {name.lower(): value for name, value in headers.items()})
        except WebhookVerificationError as error:
            return 401, str(error), {}
        return None

    @staticmethod
    def records(headers, body):
        if headers["Content-Type"] == "application/x-ndjson":
            require(body.endswith(b"\n"), "the last line has no end")
            return body.decode().splitlines()
        require(headers["Content-Type"] == "application/json", headers["Content-Type"])
        return [compact(record) for record in json.loads(body)]

    @staticmethod
    def refuse(_records, _index):
        return 0, (422, "a record is poisonous", {})


class SplunkHec:
    """https://help.splunk.com/en/splunk-enterprise/get-data-in/collect-http-event-data/troubleshoot-http-event-collector"""

    throttled = (503, '{"text":"Server is busy","code":9}', {})
    too_large = (413, '{"text":"The request entity is too large","code":27}', {})
    taken = (200, '{"text":"Success","code":0}', {})

    @staticmethod
    def refuses_sender(secret, headers, _body):
        if headers["Authorization"] != f"Splunk {secret}":
            return 403, '{"text":"Invalid token","code":4}', {}
        return None

    @staticmethod
    def records(_headers, body):
        """Objects one after the other. The collector ignores silently what follows an unknown member."""
        text, decoder, offset, records = body.decode(), json.JSONDecoder(), 0, []
        while offset < len(text):
            envelope, offset = decoder.raw_decode(text, offset)
            offset += len(text[offset:]) - len(text[offset:].lstrip())
            known = {"time", "host", "source", "sourcetype", "index", "fields", "event"}
            require(set(envelope) <= known, f"members {sorted(envelope)}")
            require(envelope["time"] > 0 and envelope["event"], "time and event")
            stream = envelope["event"]["stream"]
            require(envelope["fields"]["audit_position"] == str(stream["position"]), envelope["fields"])
            records.append(compact(envelope["event"]))
        return records

    @staticmethod
    def refuse(_records, index):
        """Takes the records before it."""
        return index, (400, json.dumps({"text": "Invalid data format", "code": 6, "invalid-event-number": index}), {})


class Datadog:
    """https://docs.datadoghq.com/api/latest/logs/send-logs/"""

    throttled = (429, '{"errors":[{"status":"429","title":"Too Many Requests"}]}', {"Retry-After": "1"})
    too_large = (413, '{"errors":[{"status":"413","title":"Payload Too Large"}]}', {})
    taken = (202, "{}", {})

    @staticmethod
    def refuses_sender(secret, headers, _body):
        if headers["DD-API-KEY"] != secret:
            return 403, '{"errors":[{"status":"403","title":"Forbidden"}]}', {}
        return None

    @staticmethod
    def records(_headers, body):
        """Datadog confirms entries that are too old or too long, and drops or cuts them: here they are problems."""
        entries = json.loads(body)
        require(len(entries) <= DATADOG_ENTRIES_MAX, f"{len(entries)} entries")
        for entry in entries:
            age = time.time() - entry["timestamp"] / 1_000
            require(age < DATADOG_AGE_SECONDS_MAX, f"an entry is {age:.0f} s old")
            require(len(json.dumps(entry)) <= DATADOG_ENTRY_BYTES_MAX, "an entry is too long")
            require(entry["ddsource"] and entry["service"], "source and service")
        return [entry["message"] for entry in entries]

    @staticmethod
    def refuse(_records, _index):
        return 0, (400, '{"errors":[{"status":"400","title":"Bad Request"}]}', {})


class Otlp:
    """Partial success takes the others."""

    throttled = (429, "", {"Retry-After": "1"})
    too_large = (413, "", {})
    taken = (200, "{}", {})

    @staticmethod
    def refuses_sender(secret, headers, _body):
        return None if headers["Authorization"] == f"Bearer {secret}" else (401, "", {})

    @staticmethod
    def records(_headers, body):
        request = json_format.Parse(body, ExportLogsServiceRequest())
        records = []
        for of_resource in request.resource_logs:
            require(of_resource.resource.attributes[0].key == "service.name", "the resource")
            for log in (log for of_scope in of_resource.scope_logs for log in of_scope.log_records):
                require(0 < log.time_unix_nano <= log.observed_time_unix_nano and log.severity_number in (9, 13), log)
                attributes = {attribute.key: attribute.value for attribute in log.attributes}
                stream = stream_of(json.loads(log.body.string_value))
                require(attributes["audit.position"].int_value == stream["position"], attributes)
                records.append(log.body.string_value)
        return records

    @staticmethod
    def refuse(_records, _index):
        return None, (200, '{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"a record is poisonous"}}', {})


KINDS = {"https": Https, "splunk_hec": SplunkHec, "datadog": Datadog, "otlp": Otlp}


def compact(record):
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False)


def stream_of(record):
    """The place of a record of either format."""
    return record.get("stream") or record["unmapped"]["stream"]


class Receiver:
    """The files of a receiver."""

    def __init__(self, options):
        self.kind = KINDS[options["kind"]]
        self.secret = options["secret"]
        self.bytes_max = BYTES_MAX[options["kind"]]
        self.folder = options["folder"]
        self.lock = threading.Lock()

    def receive(self, headers, body):
        """Status, body and headers of the response, once what is taken is in the file."""
        try:
            return self.respond(headers, body)
        except Exception as error:  # pylint: disable=broad-except
            self.append("problems.txt", [f"{type(error).__name__}: {error}"])
            return 400, str(error), {}

    def respond(self, headers, body):
        behaviour = self.behaviour()
        if "response" in behaviour:
            return behaviour["response"]
        if refused := self.kind.refuses_sender(self.secret, headers, body):
            return refused
        if random.random() < behaviour.get("throttled", 0):
            return self.kind.throttled
        if len(body) > behaviour.get("bytes_max", self.bytes_max):
            return self.kind.too_large
        return self.take(self.kind.records(headers, body), headers, body, behaviour.get("poison"))

    def take(self, records, headers, body, poison):
        response = self.kind.taken
        poisonous = [index for index, record in enumerate(records) if poison and poison in record]
        if poisonous:
            count, response = self.kind.refuse(records, poisonous[0])
            records = records[:count] if count is not None else [one for one in records if poison not in one]
        if records and "webhook-id" in headers:
            self.append("requests.jsonl", [json.dumps([headers["webhook-id"], hashlib.sha256(body).hexdigest()])])
        self.append("records.jsonl", records)
        return response

    def behaviour(self):
        try:
            with open(os.path.join(self.folder, "behaviour.json"), encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return {}

    def append(self, name, lines):
        with self.lock, open(os.path.join(self.folder, name), "a", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))


class Handler(http.server.BaseHTTPRequestHandler):
    """One request of a connection."""

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:
            # The client was killed.
            return
        status, text, headers = self.server.receiver.receive(self.headers, body)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    do_PUT = do_POST


class Server(http.server.ThreadingHTTPServer):
    """The handshake is made by the thread of the connection, so that no client delays another."""

    def __init__(self, options):
        super().__init__(("127.0.0.1", options["port"]), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options["certificate"], options["key"])
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.receiver = Receiver(options)


if __name__ == "__main__":
    Server(json.loads(sys.argv[1])).serve_forever()
