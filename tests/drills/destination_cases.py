"""What the operator sees of a receiver that fails: one case each, with the response of GET /destinations/:id as it must be."""

import datetime
import json
import traceback

import lines
import processes
import receivers
import service
from destination_kills import POISON, Node, Stream
from receiver_server import stream_of

WAIT_SECONDS_MAX = 60
ROUND_TRIP_SECONDS = 0.1


class Case:
    """One destination and its receiver."""

    def __init__(self, bench, receiver, **changes):
        self.node = bench.node.node
        self.receiver = receiver
        bench.receivers.append(receiver)
        created = service.create_organization(bench.options.server, bench.node.url, receiver.name)
        self.stream = Stream(receiver, created)
        if receiver.process is None:
            receiver.start()
        kind = changes.pop("kind", receiver.kind)
        body = {"name": receiver.name, "kind": kind, **receiver.destination(), **changes}
        created = service.post(self.node, self.stream.master_key, "/api/v1/destinations", body)
        self.stream.path = f"/api/v1/destinations/{created['destination']['id']}"

    def store(self, count=1, text="", **members):
        event = {
            "action": "drill.tried",
            "category": "system",
            "tenant_id": "drill",
            "actor": {"id": "drill", "type": "service"},
            "metadata": {"text": text},
            **members,
        }
        body = json.dumps([event] * count)
        status, response = service.Connection(self.node).request("POST", "/api/v1/events", self.stream.project_key, body)
        require(status == 201, response)

    def store_with_poison(self):
        """The third of five is poisonous."""
        self.receiver.behave(poison=POISON)
        self.stream.change(self.node, {"paused": True})
        self.store(2)
        self.store(text=POISON)
        self.store(2)
        self.stream.change(self.node, {"paused": False})

    def wait(self, condition):
        """What GET shows, once it meets the condition."""
        try:
            return processes.wait_until(lambda: self.shown_if(condition), WAIT_SECONDS_MAX, "the state")
        except TimeoutError as error:
            raise TimeoutError(f"{error}: {self.stream.shown(self.node)}") from None

    def shown_if(self, condition):
        shown = self.stream.shown(self.node)
        return shown if condition(shown) else None

    def wait_for_state(self, state):
        return self.wait(lambda shown: shown["state"] == state and (state == "active" or shown["last_error"]))

    def wait_delivered(self, position):
        shown = self.wait(lambda shown: shown["position"] >= position)
        require(shown["state"] == "active" and shown["lag_events"] == 0 and shown["lag_seconds"] is None, shown)
        require(shown["next_attempt_at"] is None, shown)
        return shown

    def go_on(self, **body):
        """The next attempt is made at once."""
        self.stream.change(self.node, body or {"paused": False})

    def call(self, method, path, body=None):
        text = None if body is None else json.dumps(body)
        connection = service.Connection(self.node, timeout=60)
        status, response = connection.request(method, f"{self.stream.path}{path}", self.stream.master_key, text)
        require(status == 200, f"{method} {path}: {status} {response[:300]}")
        return json.loads(response)

    def positions(self):
        return [stream_of(json.loads(text))["position"] for text in self.receiver.records()]


def require(condition, what):
    if not condition:
        raise AssertionError(what)


def delay(shown):
    """Seconds between the last attempt and the next one."""
    texts = (shown["last_error"]["at"], shown["next_attempt_at"])
    at, then = (datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) for text in texts)
    return round((then - at).total_seconds())


def require_error(shown, status, response, seconds):
    require(shown["last_error"]["status"] == status and response in shown["last_error"]["response"], shown)
    require(shown["set_aside"] == 0 and shown["lag_events"] > 0, shown)
    require(abs(delay(shown) - seconds) <= 1, shown)


def poison(bench, kind):
    case = Case(bench, bench.http(kind))
    case.store_with_poison()
    shown = case.wait_delivered(5)
    require(shown["set_aside"] == 1, shown)
    require(sorted(set(case.positions())) == [1, 2, 4, 5], case.positions())
    events = case.call("GET", "/set-aside")["events"]
    require([event["position"] for event in events] == [3] and events[0]["reason"], events)
    case.receiver.behave()
    resent = case.call("POST", "/set-aside/resend", {})
    require(resent["remaining"] == 0 and sorted(set(case.positions())) == [1, 2, 3, 4, 5], resent)
    require(case.stream.shown(case.node)["set_aside"] == 0, "the list is empty")
    require_equal_repeats(case)
    return shown


def require_equal_repeats(case):
    texts = {}
    for text in case.receiver.records():
        position = stream_of(json.loads(text))["position"]
        require(texts.setdefault(position, text) == text, f"position {position} has two records")
    require(not case.receiver.problems(), case.receiver.problems())


def parked(bench):
    case = Case(bench, bench.http("https"))
    case.receiver.behave(response=[422, "unknown field", {}])
    case.store(15)
    shown = case.wait_for_state("parked")
    require(shown["set_aside"] == 10 and shown["position"] == 10 and shown["last_error"]["status"] == 422, shown)
    case.receiver.behave()
    case.go_on()
    after = case.wait_delivered(15)
    require(after["set_aside"] == 10 and case.positions() == [11, 12, 13, 14, 15], after)
    require(case.call("POST", "/set-aside/resend", {})["remaining"] == 0, "ten are sent again")
    require(sorted(case.positions()) == list(range(1, 16)), case.positions())
    return shown


def outage(bench):
    case = Case(bench, bench.http("https"))
    case.receiver.go_down()
    case.store(3)
    delays = set()

    def is_longer(shown):
        if shown["last_error"] and shown["next_attempt_at"]:
            delays.add(delay(shown))
        return max(delays, default=0) >= 8

    shown = case.wait(is_longer)
    require(delays <= {1, 2, 4, 8} and shown["state"] == "delayed", delays)
    require_error(shown, None, "connection_failed", 8)
    case.receiver.come_up()
    case.wait_delivered(3)
    require(case.positions() == [1, 2, 3], case.positions())
    return shown


def maintenance(bench):
    case = Case(bench, bench.http("https"))
    case.receiver.behave(response=[503, "maintenance until noon", {"Retry-After": "120"}])
    case.store()
    shown = case.wait_for_state("delayed")
    require_error(shown, 503, "maintenance until noon", 120)
    case.receiver.behave()
    case.go_on()
    case.wait_delivered(1)
    return shown


def throttled(bench, kind):
    receiver = bench.http(kind)
    case = Case(bench, receiver)
    receiver.behave(throttled=1)
    case.store(3)
    shown = case.wait_for_state("delayed")
    require_error(shown, 503 if kind == "splunk_hec" else 429, "", delay(shown))
    receiver.behave()
    case.wait_delivered(3)
    return shown


def too_large(bench, kind):
    case = Case(bench, bench.http(kind))
    case.receiver.behave(bytes_max=6_000)
    case.store(40, text="x" * 500)
    shown = case.wait_delivered(40)
    require(shown["set_aside"] == 0 and case.positions() == list(range(1, 41)), shown)
    return shown


def too_old(bench):
    case = Case(bench, bench.http("datadog"))
    three_days_ago = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=3)
    case.store(occurred_at=three_days_ago.isoformat())
    shown = case.wait_delivered(1)
    require_equal_repeats(case)
    require(case.positions() == [1], case.positions())
    return shown


def wrong_secret(bench, kind):
    receiver = bench.http(kind)
    right, receiver.secret = receiver.secret, "whsec_" + "A" * 43 + "="
    wrong = receiver.destination()["credentials"]
    receiver.secret = right
    case = Case(bench, receiver, credentials=wrong)
    case.store()
    shown = case.wait_for_state("credentials")
    require_error(shown, 403 if kind in ("splunk_hec", "datadog") else 401, "", 300)
    case.go_on(credentials=receiver.destination()["credentials"])
    after = case.wait_delivered(1)
    require(not after["previous_credentials_in_use"], after)
    # A secret that is replaced by a wrong one stays in use.
    case.go_on(credentials=wrong)
    case.store()
    after = case.wait_delivered(2)
    require(after["previous_credentials_in_use"], after)
    return shown


def expired_certificate(bench):
    case = Case(bench, bench.http("https", days=(-2, -1)))
    case.store()
    shown = case.wait_for_state("delayed")
    require_error(shown, None, "tls_failed", delay(shown))
    require("xpired" in shown["last_error"]["response"], shown)
    return shown


def expired_client_certificate(bench, program, state, response):
    receiver = program(bench.folder, bench.authority, bench.debian, client_days=(-2, -1))
    case = Case(bench, receiver)
    case.store()
    shown = case.wait_for_state(state)
    require_error(shown, None, response, 300 if state == "credentials" else delay(shown))
    certificate, key = bench.authority.issue(f"{receiver.name}-renewed", [receivers.CLIENT])
    receiver.client = certificate, key
    case.go_on(credentials=receiver.destination()["credentials"])
    case.wait_delivered(1)
    processes.wait_until(lambda: case.positions() == [1], 10, "the record is in the file")
    return shown


def refused_behind_a_round_trip(bench, program):
    """The receiver closes the connection before the records arrive: that is no confirmation."""
    receiver = program(bench.folder, bench.authority, bench.debian, client_days=(-2, -1))
    receiver.start()
    receiver.port = lines.Line(receiver.port, ROUND_TRIP_SECONDS).port
    case = Case(bench, receiver)
    case.store()
    shown = case.wait(lambda shown: shown["last_error"] or shown["last_success_at"])
    require(shown["position"] == 0 and shown["last_success_at"] is None, f"{len(receiver.records())} records have arrived: {shown}")
    return shown


def full_bucket(bench):
    """A bucket over its quota."""
    receiver = bench.http("https")
    settings = {"url": f"https://127.0.0.1:{receiver.port}/audit", "region": "us-east-1"}
    case = Case(bench, receiver, kind="s3", settings=settings, credentials={"access_key": "drill-key", "secret_key": "drill-secret"})
    receiver.behave(response=[507, "<Error><Code>InsufficientStorage</Code></Error>", {}])
    case.store()
    shown = case.wait_for_state("delayed")
    require_error(shown, 507, "InsufficientStorage", delay(shown))
    receiver.behave(response=[200, "", {}])
    case.wait_delivered(1)
    return shown


def missing_bucket(bench):
    case = Case(bench, receivers.Moto(bench.folder))
    case.store()
    shown = case.wait_for_state("delayed")
    require_error(shown, 404, "NoSuchBucket", delay(shown))
    case.receiver.create()
    case.wait_delivered(1)
    require(case.positions() == [1] and not case.receiver.problems(), case.positions())
    return shown


def frozen(bench):
    """A receiver that takes the connection and says nothing."""
    case = Case(bench, receivers.Moto(bench.folder, "moto-frozen"))
    case.receiver.create()
    case.receiver.go_down()
    case.store()
    shown = case.wait_for_state("delayed")
    require_error(shown, None, "timed_out", delay(shown))
    case.receiver.come_up()
    case.wait_delivered(1)
    require(case.positions() == [1], case.positions())
    return shown


CASES = {
    "a poison event, HTTPS": lambda bench: poison(bench, "https"),
    "a poison event, Splunk": lambda bench: poison(bench, "splunk_hec"),
    "a poison event, Datadog": lambda bench: poison(bench, "datadog"),
    "a poison event, OTLP": lambda bench: poison(bench, "otlp"),
    "every event refused": parked,
    "an outage": outage,
    "an outage with Retry-After": maintenance,
    "throttled, Splunk": lambda bench: throttled(bench, "splunk_hec"),
    "throttled, Datadog": lambda bench: throttled(bench, "datadog"),
    "too large, Splunk": lambda bench: too_large(bench, "splunk_hec"),
    "too large, Datadog": lambda bench: too_large(bench, "datadog"),
    "too old, Datadog": too_old,
    "a wrong secret, HTTPS": lambda bench: wrong_secret(bench, "https"),
    "a wrong secret, Splunk": lambda bench: wrong_secret(bench, "splunk_hec"),
    "a wrong secret, Datadog": lambda bench: wrong_secret(bench, "datadog"),
    "a wrong secret, OTLP": lambda bench: wrong_secret(bench, "otlp"),
    "an expired certificate": expired_certificate,
    # rsyslog sends no alert: it closes the connection, as it does when it stops.
    "an expired client certificate, rsyslog": lambda bench: expired_client_certificate(
        bench, receivers.Rsyslog, "delayed", "connection_dropped"
    ),
    "an expired client certificate, syslog-ng": lambda bench: expired_client_certificate(
        bench, receivers.SyslogNg, "credentials", "CertificateExpired"
    ),
    "a refused client behind a round trip, rsyslog": lambda bench: refused_behind_a_round_trip(bench, receivers.Rsyslog),
    "a refused client behind a round trip, syslog-ng": lambda bench: refused_behind_a_round_trip(bench, receivers.SyslogNg),
    "a full bucket": full_bucket,
    "a missing bucket": missing_bucket,
    "a frozen bucket": frozen,
}


class Bench:
    """The node of all cases, and their receivers."""

    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.authority = lines.Authority(folder)
        self.debian = receivers.debian_programs(options.tools)
        self.node = Node(options, folder, self.authority)
        self.receivers = []

    def http(self, kind, **options):
        name = f"{kind}-{len(self.receivers)}"
        return receivers.HttpReceiver(kind, name, self.folder, self.authority, **options)

    def stop(self):
        self.node.stop()
        for receiver in self.receivers:
            receiver.stop()


def line(name, shown):
    error = shown["last_error"] or {}
    waits = f"{delay(shown)} s" if shown["next_attempt_at"] and error else "–"
    response = error.get("response", "–").replace("|", "\\|")[:70] or "–"
    return f"| {name} | `{shown['state']}` | {error.get('status') or '–'} | {response} | {waits} | {shown['set_aside']} |"


def run(options, folder):
    """Returns the number of cases that failed."""
    named = options.cases.split(";") if options.cases else list(CASES)
    if unknown := set(named) - set(CASES):
        raise SystemExit(f"no such case: {'; '.join(sorted(unknown))}. There are {'; '.join(CASES)}")
    bench = Bench(options, folder)
    failures = 0
    try:
        service.create_organization(options.server, bench.node.url, "first")
        bench.node.node.start()
        print("| Case | `state` | Status | Response | Next attempt after | `set_aside` |\n|---|---|---|---|---|---|", flush=True)
        for name in named:
            try:
                print(line(name, CASES[name](bench)), flush=True)
            except Exception as error:  # pylint: disable=broad-except
                failures += 1
                print(f"| {name} | FAILED: {type(error).__name__}: {str(error)[:1500]} |", flush=True)
                traceback.print_exc(limit=-2)
        return failures
    finally:
        bench.stop()
        print(f"{len(named) - failures} of {len(named)} cases are as documented", flush=True)
