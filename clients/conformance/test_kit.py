"""The kit accepts a client that conforms and finds the faults of those that do not: python3 -m unittest test_kit

The clients here are scripts of requests, each with one fault. They do not read the cases' steps.
"""

import json
import pathlib
import re
import subprocess
import sys
import unittest
import unittest.mock
import urllib.error
import urllib.request
import uuid

from kit.freeze import freeze, state_of
from kit.routes import Routes

HERE = pathlib.Path(__file__).parent


class Server:
    """The scripted server with one case."""

    def __init__(self, name):
        self.process = subprocess.Popen([sys.executable, HERE / "server.py", "--case", name], stdout=subprocess.PIPE)
        hello = json.loads(self.process.stdout.readline())
        self.base_url, self.case = hello["base_url"], hello["case"]
        self.events = [event for step in self.case["do"] for event in step.get("events", [])]

    def post(self, path, body, headers=()):
        """Status and body; None if the connection breaks."""
        request = urllib.request.Request(self.base_url + path, json.dumps(body).encode(), method="POST",
                                         headers={"Content-Type": "application/json", **dict(headers)})
        try:
            with urllib.request.urlopen(request) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())
        except (OSError, ValueError):
            return None, None

    def send(self, events, **headers):
        headers = headers or {"Authorization": "Bearer " + self.case["client"]["api_key"]}
        return self.post("/api/v1/events", events, headers)

    def report(self, **outcome):
        """The problems. The process has ended afterwards, and its exit code says the same."""
        _, verdict = self.post("/__report", outcome)
        code = self.process.wait()
        self.process.stdout.close()
        assert (code == 0) == verdict["passed"] == (not verdict["problems"]), (code, verdict)
        return verdict["problems"]


def keyed(events):
    return [{"idempotency_key": str(uuid.uuid4()), **event} for event in events]


class Kit(unittest.TestCase):
    def test_a_client_that_conforms_has_no_problems(self):
        server = Server("a_503_is_retried_with_the_same_keys")
        events = keyed(server.events)
        self.assertEqual(server.send(events)[0], 503)
        status, body = server.send(events)
        self.assertEqual(status, 201)
        self.assertEqual(server.report(stored=body["ids"]), [])

    def assert_found(self, text, problems):
        self.assertTrue(any(text in problem for problem in problems), problems)

    def test_new_keys_on_a_retry_are_found(self):
        server = Server("a_503_is_retried_with_the_same_keys")
        server.send(keyed(server.events))
        _, body = server.send(keyed(server.events))
        self.assert_found("another idempotency key", server.report(stored=body["ids"]))

    def test_a_fourth_attempt_is_found(self):
        server = Server("a_direct_request_is_retried_too")
        events = keyed(server.events)
        for _ in range(4):
            _, body = server.send(events)
        self.assert_found("4 attempts", server.report(stored=body["ids"]))

    def test_a_retry_of_a_400_is_found(self):
        server = Server("a_400_is_not_retried")
        events = keyed(server.events)
        server.send(events)
        _, body = server.send(events)
        self.assert_found("2 requests, expected 1", server.report(stored=body["ids"]))

    def test_a_400_on_environment_that_costs_the_events_is_found(self):
        server = Server("a_400_on_environment_keeps_the_events")
        server.send(keyed(server.events))
        server.post("/__release", {})
        problems = server.report(errors=[{"status": 400, "code": "validation_error"}] * 5)
        self.assert_found("the server stored 0 events, expected 5", problems)
        self.assert_found("errors that are not expected", problems)

    @unittest.skipUnless(sys.platform == "linux", "only Linux shows the state of a process in a file")
    def test_a_process_does_not_run_while_it_is_stopped(self):
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
            states = []
            with unittest.mock.patch("kit.freeze.time.sleep", lambda _: states.append(state_of(process.pid))):
                freeze(process.pid, 2)
            self.assertEqual(states[-1], "T")
            process.communicate(b"\n")
            self.assertEqual(process.returncode, 0)

    def test_an_early_retry_is_found(self):
        server = Server("retry_after_of_a_429_is_the_least_wait")
        events = keyed(server.events)
        server.send(events)
        _, body = server.send(events)
        self.assert_found("at least 1 s expected", server.report(stored=body["ids"]))

    def test_events_that_the_client_forgets_are_found(self):
        server = Server("a_third_attempt_succeeds")
        server.send(keyed(server.events))
        self.assert_found("3 events were recorded, and the client accounts for 0", server.report())

    def test_another_order_is_found(self):
        server = Server("after_three_attempts_events_wait_in_the_queue")
        events = keyed(server.events)
        for _ in range(3):
            server.send(events)
        _, body = server.send(events[::-1])
        self.assert_found("event 1 was stored after event 2", server.report(stored=body["ids"]))

    def test_an_outage_lasts_until_it_is_released(self):
        server = Server("an_outage_of_the_network_loses_nothing")
        events = keyed(server.events)
        for _ in range(5):
            self.assertEqual(server.send(events), (None, None))
        server.post("/__release", {})
        _, body = server.send(events)
        self.assertEqual(server.report(stored=body["ids"], flushes=[True]), [])

    def test_a_resent_event_that_was_stored_is_found(self):
        server = Server("refused_events_of_a_batch_are_reported_and_not_retried")
        events = keyed(server.events)
        server.send(events)
        server.send(events)
        self.assert_found("although request 1 settled it", server.report())

    def test_changed_content_and_a_lost_key_are_found(self):
        server = Server("an_idempotency_key_of_the_caller_is_kept")
        changed = [{**event, "action": "other.action", "idempotency_key": "mine"} for event in server.events]
        server.send(changed[:1])
        problems = server.report()
        self.assert_found("event 0: sent as", problems)
        self.assert_found("event 0: idempotency key 'mine'", problems)

    def test_a_missing_credential_is_found(self):
        server = Server("one_event_sent_directly")
        _, body = server.send(keyed(server.events), Accept="*/*")
        self.assert_found("Authorization", server.report(stored=body["ids"]))

    def test_a_credential_in_a_stream_is_found(self):
        server = Server("a_stream_has_one_fresh_token_and_no_credential")
        for events in (server.events[:2], server.events[2:]):
            server.post(f"/api/v1/streams/{uuid.uuid4()}/events", keyed(events), {"Authorization": "Bearer pk_live_x"})
        problems = server.report()
        self.assert_found("Authorization", problems)
        self.assert_found("several claim tokens", problems)

    def test_faults_of_the_connection_look_like_faults(self):
        server = Server("a_reset_connection_is_retried")
        events = keyed(server.events)
        for _ in range(2):
            self.assertEqual(server.send(events), (None, None))
        _, body = server.send(events)
        self.assertEqual(server.report(stored=body["ids"]), [])
        server = Server("a_truncated_response_is_retried")
        events = keyed(server.events)
        self.assertEqual(server.send(events), (None, None))
        _, body = server.send(events)
        self.assertEqual(server.report(stored=body["ids"]), [])

    def test_large_requests_are_refused_as_by_the_service(self):
        server = Server("a_backlog_is_sent_in_batches_of_at_most_100")
        server.post("/__release", {})
        self.assertEqual(server.send(keyed(server.events[:101]))[0], 400)
        self.assert_found("101 events", server.report())
        server = Server("large_events_are_sent_in_bodies_of_at_most_1_mib")
        self.assertEqual(server.send(keyed(server.events))[0], 413)
        self.assert_found("bytes", server.report())

    def test_every_fault_of_the_readme_has_its_cases(self):
        cases = {case["name"] for case in json.loads(subprocess.check_output([sys.executable, HERE / "server.py", "--list"]))}
        section = (HERE / "README.md").read_text(encoding="utf-8").partition("### Faults\n")[2].partition("\n## ")[0]
        named = re.findall(r"`(\w{20,})`", section)
        self.assertGreater(len(named), 8)
        self.assertLessEqual(set(named), cases)

    def test_names_are_unique_and_every_case_states_what_it_expects(self):
        cases = json.loads(subprocess.check_output([sys.executable, HERE / "server.py", "--list"]))
        self.assertEqual(len({case["name"] for case in cases}), len(cases))
        known = {"requests", "events_per_request", "stored", "stored_by_server", "errors", "dropped", "raised", "pending", "flushes",
                 "gaps_seconds_min", "attempts_max", "repeats", "adds"}
        for case in cases:
            self.assertLessEqual(set(case["expect"]), known, case["name"])
            self.assertTrue(case["expect"], case["name"])


class UsedRoutes(unittest.TestCase):
    """`routes.py` finds what a client has not used."""

    DOCUMENT = {
        "paths": {
            "/api/v1/notes": {
                "get": {
                    "operationId": "list_notes",
                    "parameters": [{"name": name, "in": "query"} for name in ("cursor", "word")],
                    "responses": {"200": {"content": {"application/json": {"examples": {"one": {"value": {"notes": [], "cursor": None}}}}}}},
                },
                "post": {
                    "operationId": "create_note",
                    "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Note"}}}},
                    "responses": {"201": {"content": {"application/json": {"examples": {"one": {"value": {"id": "n1"}}}}}}},
                },
            },
            "/api/v1/notes/{id}": {"get": {"operationId": "get_note", "responses": {"200": {"content": {"text/plain": {}}}}}},
            "/healthz": {"get": {"operationId": "get_health", "responses": {}}},
        },
        "components": {"schemas": {"Note": {"oneOf": [{"properties": {"text": {}}}, {"properties": {"image": {}}}]}}},
    }

    def setUp(self):
        self.routes = Routes(self.DOCUMENT)

    def call(self, method, target, body=None):
        status, _, text = self.routes.answer(method, target, {}, b"" if body is None else json.dumps(body).encode())
        return status, text

    def test_what_was_not_called_is_a_problem(self):
        self.assertEqual(self.call("POST", "/api/v1/notes", {"text": "a"})[0], 201)
        self.assertEqual(self.call("GET", "/api/v1/notes/n1"), (200, b""))
        self.assertEqual(
            sorted(self.routes.problems()),
            ["GET /api/v1/notes was not called", "POST /api/v1/notes was called without image"],
        )

    def test_what_is_not_declared_is_a_problem(self):
        self.call("POST", "/api/v1/notes", {"text": "a", "image": "b", "sound": "c"})
        self.call("GET", "/api/v1/notes/n1?deep=1")
        self.assertEqual(self.call("GET", "/api/v1/other")[0], 404)
        found = "\n".join(self.routes.problems())
        for part in ("called with sound,", "called with deep,", "GET /api/v1/other was called,"):
            self.assertIn(part, found)

    def test_a_list_has_two_pages(self):
        cursor = json.loads(self.call("GET", "/api/v1/notes?word=a")[1])["cursor"]
        self.assertIn("GET /api/v1/notes was called without cursor", self.routes.problems())
        self.assertIsNone(json.loads(self.call("GET", f"/api/v1/notes?cursor={cursor}")[1])["cursor"])
        self.assertNotIn("GET /api/v1/notes was called without cursor", self.routes.problems())


if __name__ == "__main__":
    unittest.main()
