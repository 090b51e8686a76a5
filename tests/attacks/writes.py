"""Attacks with what a project configures and stores: patterns, rules, and a flood of events."""

import json

import http_client
import scene as scenes
from attack import Attack, cycle, post
from generator import harmless

EVENTS_TARGET = "/api/v1/events"
TEST_TARGET = "/api/v1/redaction/test"
TEXT_CHARS = scenes.LARGE_TEXT_CHARS
# Repetitions of a class of letters, from more than the server compiles to a few.
REPETITIONS = (200, 160, 130, 100, 80, 65, 50, 40, 30, 20, 10)


def text_of(part):
    return (part * (TEXT_CHARS // len(part) + 1))[:TEXT_CHARS]


class Pattern(Attack):
    """A redaction pattern that is slow over a text, and events with that text."""

    per_second = 200

    def __init__(self, name, patterns, before=""):
        self.name = f"pattern-{name}"
        self.before = before
        # Pairs: patterns, the first of which that the server accepts is used, and a text.
        self.patterns = patterns
        quoted = ", ".join(f"`{alternatives[0]}`" for alternatives, _ in patterns)
        self.summary = f"events of 60 KB to a project with {quoted or 'the built-in rules'}, {self.per_second} requests/s"

    def prepare(self, scene):
        scene.facts["texts"] = []
        remarks = []
        for number, (alternatives, text) in enumerate(self.patterns):
            for pattern in alternatives:
                if scene.attempt_rule({"type": "pattern", "name": f"slow {number}", "pattern": pattern}):
                    if pattern != alternatives[0]:
                        remarks.append(f"with `{pattern}`")
                    break
            else:
                raise RuntimeError(f"no pattern was accepted: {alternatives}")
            scene.facts["texts"].append(text_of(text))
        return ", ".join(remarks)

    def clients(self, generator):
        key = generator.scene.attacker.project_key
        messages = []
        for text in generator.scene.facts["texts"]:
            event = scenes.large_event(0, text)
            messages.append(post(EVENTS_TARGET, key, scenes.encoded(event)))
            messages.append(post(TEST_TARGET, key, scenes.encoded({"event": event})))
        return [self.at_rate(generator, [cycle(messages, generator.number)])]


class BuiltInPattern(Pattern):
    """Texts that nearly match the built-in rules."""

    TEXTS = ("a@", "4111 1111 1111 111 ", "eyJ.eyJ.", "Bearer ", "AKIA", "123-45-", "+1 555 ", "ssn phone tel: 1", "aws_secret_access_key=")

    def __init__(self):
        super().__init__("built-in", [])

    def prepare(self, scene):
        scene.facts["texts"] = [text_of(text) for text in self.TEXTS]
        return ""


class PatternPaths(Attack):
    """Field rules with as many paths as allowed, over an event with many fields."""

    name = "pattern-paths"
    per_second = 200
    before = "14–42 s"
    summary = "events of 4,096 fields to a project with 100 rules of 100 paths of `*`, 200 requests/s"

    def prepare(self, scene):
        paths = [".".join(["metadata", *["*"] * (1 + number % 12), f"field{number}"]) for number in range(100)]
        rules = 100 if not scene.is_smoke else 20
        accepted = sum(
            scene.attempt_rule({"type": "field_redact", "name": f"paths {number}", "fields": paths})
            for number in range(rules)
        )
        return f"{rules - accepted} of {rules} rules refused" if accepted < rules else ""

    def clients(self, generator):
        key = generator.scene.attacker.project_key
        event = scenes.event(0, metadata=self.tree(5))
        messages = [
            post(EVENTS_TARGET, key, scenes.encoded(event)),
            post(TEST_TARGET, key, scenes.encoded({"event": event})),
        ]
        return [self.at_rate(generator, [cycle(messages, generator.number)])]

    def tree(self, levels):
        """Each object has four entries: 4,096 leaves below five levels."""
        return {name: self.tree(levels - 1) if levels else 1 for name in "abcd"}


class PatternMemory(Attack):
    """Patterns that are large when compiled, in many projects."""

    name = "pattern-memory"
    before = "not measured"
    summary = "8 projects get up to 100 patterns each of the largest size that the server compiles, and events after each"
    PROJECTS = 8

    def prepare(self, scene):
        scene.facts["projects"] = [scene.create_project(f"patterns {number}") for number in range(self.PROJECTS)]
        for repetitions in REPETITIONS:
            pattern = rf"\w{{{repetitions}}}Z"
            if scene.attempt_rule({"type": "pattern", "name": "probe", "pattern": pattern}):
                scene.facts["repetitions"] = repetitions
                return f"`{pattern}`"
        raise RuntimeError("no pattern was accepted")

    def clients(self, generator):
        projects = generator.scene.facts["projects"]
        messages = [self.messages(generator.scene, *projects[n]) for n in generator.share(self.PROJECTS)]
        return [self.at_rate(generator, messages)]

    @staticmethod
    def messages(scene, project, key):
        target = f"/api/v1/redaction/rules?project_id={project}"
        # Has each pattern compute states.
        body = scenes.encoded(scenes.event(0, metadata={"text": "word another " * 100}))
        number = 0
        while True:
            if number < 100:
                pattern = rf"\w{{{scene.facts['repetitions']}}}Z{number}"
                rule = {"type": "pattern", "name": f"large {number}", "pattern": pattern}
                yield post(target, scene.attacker.master_key, scenes.encoded(rule))
            number += 1
            yield post(EVENTS_TARGET, key, body)


class RuleChurn(Attack):
    """Rules that change while events are stored: each change makes the next request compile."""

    name = "rule-churn"
    before = "1,035 MiB"
    summary = "12 clients create, change and delete redaction rules, alert rules and webhooks, while others store batches of 10 events, 400 requests/s"

    def prepare(self, scene):
        for repetitions in REPETITIONS:
            pattern = rf"\w{{{repetitions}}}Z"
            if scene.attempt_rule({"type": "pattern", "name": "probe", "pattern": pattern}):
                scene.facts["pattern"] = pattern
                break
        # Each change compiles all of them again, unless the server is careful.
        for number in range(20):
            scene.attempt_rule({"type": "pattern", "name": f"large {number}", "pattern": f"{pattern}{number}"})
        return ""

    def clients(self, generator):
        key = generator.scene.attacker.project_key
        batch = scenes.encoded([scenes.event(number) for number in range(10)])
        changes = [self.change_redaction, self.change_alerts, self.change_webhooks]
        return [
            *(changes[number % 3](generator) for number in generator.share(12)),
            self.at_rate(generator, [cycle([post(EVENTS_TARGET, key, batch)])]),
        ]

    def change_redaction(self, generator):
        pattern = generator.scene.facts["pattern"]
        created = {"type": "pattern", "name": "churn", "pattern": pattern}
        changed = {"pattern": f"{pattern}Z"}
        return self.change(generator, "/api/v1/redaction/rules", "PUT", created, changed)

    def change_alerts(self, generator):
        created = {
            "name": "churn",
            "action_pattern": "*.deleted",
            "threshold": 10,
            "window_seconds": 60,
            "group_by": "actor_id",
            "severity": "low",
        }
        return self.change(generator, "/api/v1/alerts/rules", "PATCH", created, {"threshold": 9})

    def change_webhooks(self, generator):
        created = {"url": f"https://{scenes.ATTACKER_ADDRESS}:9/alerts"}
        return self.change(generator, "/api/v1/alerts/webhooks", "PATCH", created, {"enabled": False})

    @staticmethod
    async def change(generator, target, method, created, changed):
        """Creates, changes and deletes an object again and again."""
        key = generator.scene.attacker.master_key
        connection = generator.connection()
        is_first = True
        while True:
            try:
                status, body = await connection.send(post(target, key, scenes.encoded(created)))
                generator.count(status)
                if status == 201:
                    (identifier,) = (item["id"] for item in json.loads(body).values() if isinstance(item, dict))
                    for message in (
                        http_client.request(method, f"{target}/{identifier}", key, scenes.encoded(changed)),
                        http_client.request("DELETE", f"{target}/{identifier}", key),
                    ):
                        status, _ = await connection.send(message)
                        generator.count(status)
            except http_client.NoResponse as error:
                generator.count(str(error).partition(":")[0])
            if is_first:
                is_first = False
                generator.ready()


class Flood(Attack):
    """Events at full speed."""

    name = "flood"
    summary = "batches of 100 events, 400 requests/s"
    needed_outcomes = ("201",)

    def clients(self, generator):
        key = generator.scene.attacker.project_key
        batch = scenes.encoded([scenes.event(number) for number in range(100)])
        return [self.at_rate(generator, [cycle([post(EVENTS_TARGET, key, batch)])])]


class LargeFlood(Attack):
    """Bodies of nearly 1 MiB at full speed."""

    name = "flood-large"
    summary = "batches of 15 events of 60 KB, 100 requests/s"
    per_second = 100
    needed_outcomes = ("201",)

    def clients(self, generator):
        key = generator.scene.attacker.project_key
        batch = scenes.encoded([scenes.large_event(number) for number in range(scenes.LARGE_BATCH_EVENTS)])
        return [self.at_rate(generator, [cycle([post(EVENTS_TARGET, key, batch)])])]


class Control(Attack):
    """The harmless load as an attack: what the machine and this program cost."""

    name = "control"
    summary = "the harmless load itself, beside a quiet phase without any"
    is_busy = False

    def clients(self, generator):
        return harmless(generator)


ALL = [
    Pattern("scan", [([f"a(?:[ab]{{{repeated}}}){{100}}[^ab]" for repeated in (291, *REPETITIONS)], "ab")], "no responses for 75 s"),
    Pattern(
        "others",
        [
            # Quadratic for all matches, although each search is linear (documentation of the crate `regex`).
            ([".*[^A-Z]|[A-Z]"], "A"),
            # Exponentially many states of a deterministic automaton.
            (["a[ab]{60}c|b[ab]{61}d"], "abbabaab"),
            ([r"(?:\w{1,40}\s?){1,8}!", r"(?:\w{1,20}\s?){1,4}!", r"(?:\w{1,5}\s?){1,4}!"], "word another "),
            ([r"(?i)(?:straße|maße|\pL{20,60})[0-9]", r"(?i)(?:straße|maße|\pL{10,30})[0-9]", r"(?i)(?:straße|maße|\pL{5,12})[0-9]"], "StrassE"),
        ],
    ),
    BuiltInPattern(),
    PatternPaths(),
    PatternMemory(),
    RuleChurn(),
    Flood(),
    LargeFlood(),
]
