#!/usr/bin/env python3
"""The checks of this repository, as steps: `checks.py run` and `checks.py full [STEP…]` (`.ci/run`, `.ci/full`).

`run` is what every commit on main passes. It runs the steps that are always run, and each other step whose own sources have changed
since its last full run, as long as all of it stays within half an hour. `full` runs every step of a clean work tree, or those that it is
given, such as one that failed before and is mended, and writes a record, which is committed. `run` fails when the record of a step is too
old, so what only `full` runs is not forgotten.

Python's standard library only.
"""

import json
import os
import pathlib
import platform
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / ".ci" / "full.json"
RUN_SECONDS_MAX = 30 * 60
RECORD_COMMITS_MAX = 50

# Steps of every run, in order. Each is a program in `.ci/steps`.
ALWAYS = ("checks", "tools", "formatting", "lints", "tests", "crates")

# Steps of a full run, in order, and the paths of their own sources. A path that ends in `/` is a directory. A step's program is one
# of its sources. The server is none: it changes with nearly every commit, and the steps above test it.
BY_SOURCES = {
    # Of all crates, so it is compiled once more.
    "documentation": (),
    "deployment-files": (
        *(".ci/environment.sh", ".ci/full", ".ci/run", ".ci/steps/"),
        *(".github/", "deploy/", "migrations/freeze", "tests/drills/upgrade-from-tag"),
    ),
    "openapi": ("tests/schemathesis.sh", "tests/schemathesis_hooks.py", "tests/requirements-schemathesis.txt"),
    "operations": (
        *("README.md", "docs/alerts.md", "docs/backup.md", "docs/coming-from.md", "docs/integrate.md", "docs/operations.md", "docs/webhooks.md"),
        "docs/examples/webhook-receiver/",
        *("tests/deployment/", "tests/guides/", "tests/operations/"),
    ),
    "postgres-versions": ("tests/postgres-versions",),
    "generated-clients": ("clients/generated/",),
    "python-client": ("clients/conformance/", "clients/python/", "docs/integrate.md", "docs/outbox.md", "tests/guides/tasks/"),
    "typescript-client": ("clients/conformance/", "clients/typescript/", "docs/outbox.md"),
    "rust-client": ("clients/python/tests/crash.py", "crates/audit-client/"),
    "pages": ("clients/viewer/", "crates/audit-web/", "web/"),
    "model": ("tests/model/",),
    "attacks": ("tests/attacks/", "tests/deployment/"),
    "drills": ("tests/deployment/", "tests/drills/"),
    "packages": ("deploy/debian/", "deploy/docker/", "deploy/registries/", "deploy/release/", "deploy/systemd/"),
}


class Refusal(Exception):
    """A message for the person who started the checks."""


def git(*arguments, root=ROOT):
    """The output of a git command."""
    finished = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    if finished.returncode != 0:
        raise Refusal(f"git {' '.join(arguments)}: {finished.stderr.strip()}")
    return finished.stdout.strip()


def changed_since(commit, root=ROOT):
    """The paths that changed since a commit of the record. Refuses a commit that is too old."""
    try:
        git("merge-base", "--is-ancestor", commit, "HEAD", root=root)
    except Refusal as refusal:
        advice = "if the clone is shallow: git fetch --unshallow"
        raise Refusal(f"a full run was of {commit}, which is not in the history of this clone ({advice}): {refusal}") from refusal
    age = int(git("rev-list", "--count", f"{commit}..HEAD", root=root))
    if age > RECORD_COMMITS_MAX:
        raise Refusal(f"a full run is {age} commits old, of at most {RECORD_COMMITS_MAX}: run .ci/full and commit {RECORD.name}")
    return git("diff", "--name-only", "--no-renames", commit, root=root).splitlines()


def is_source(path, step):
    """Whether the path is one of the step's own sources."""
    sources = (f".ci/steps/{step}", *BY_SOURCES[step])
    return any(path.startswith(source) if source.endswith("/") else path == source for source in sources)


def selected(record, changed):
    """The steps to run, because a full run has not passed them, or because a source has changed since. `changed` gives the paths that
    changed since a commit."""
    passed = {step["name"]: step["commit"] for step in record["steps"] if step["passed"] and step["name"] in BY_SOURCES}
    paths = {commit: changed(commit) for commit in set(passed.values())}
    return [step for step in BY_SOURCES if step not in passed or any(is_source(path, step) for path in paths[passed[step]])]


class Budget:
    """Decides whether a step still fits into a run, by its seconds in the record and the speed of this machine."""

    def __init__(self, record, seconds_max=RUN_SECONDS_MAX):
        self.recorded = {step["name"]: step["seconds"] for step in record["steps"]}
        self.seconds_max = seconds_max

    def estimate(self, step, spent):
        """Seconds that the step will take here, after steps that took `spent`. A step that is not in the record counts as free."""
        usual = sum(self.recorded.get(name, seconds) for name, seconds in spent.items())
        return self.recorded.get(step, 0) * sum(spent.values()) / usual if usual else 0

    def has_room(self, step, spent):
        """Whether the step ends in time."""
        return sum(spent.values()) + self.estimate(step, spent) <= self.seconds_max


def run_step(name):
    """Runs a step. Returns whether it passed, and its seconds."""
    print(f"\n== {name}", flush=True)
    started = time.monotonic()
    finished = subprocess.run(["bash", f".ci/steps/{name}"], cwd=ROOT, stdin=subprocess.DEVNULL)
    return finished.returncode == 0, time.monotonic() - started


def print_table(results):
    """The steps with their seconds, and the line that counts them."""
    print("\n| step | seconds | result |\n|---|---|---|")
    for name, passed, seconds in results:
        print(f"| {name} | {seconds:.0f} | {'passed' if passed else 'FAILED'} |")
    failed = sum(not passed for _, passed, _ in results)
    print(f"| all | {sum(seconds for _, _, seconds in results):.0f} | |")
    print(f"\nsteps: {len(results) - failed} passed, {failed} failed", flush=True)


def run():
    """The steps of every commit. Returns the exit code."""
    if not RECORD.exists():
        raise Refusal(f"there is no {RECORD.relative_to(ROOT)}: run .ci/full")
    record = json.loads(RECORD.read_text())
    steps = selected(record, changed_since)
    budget = Budget(record)
    results, left_out = [], []
    for name in (*ALWAYS, *steps):
        if name in BY_SOURCES and not budget.has_room(name, {name: seconds for name, _, seconds in results}):
            left_out.append(name)
            continue
        passed, seconds = run_step(name)
        results.append((name, passed, seconds))
        if not passed:
            break
    print_table(results)
    if not all(passed for _, passed, _ in results):
        print(f"failed: {results[-1][0]}")
        return 1
    if left_out:
        print(f"not run, because {RUN_SECONDS_MAX // 60} minutes are over, although their sources have changed: {', '.join(left_out)}")
    else:
        print("nothing was left out: the sources of other steps have not changed since the last full run")
    return 0


def processor():
    """The processor's name, whether it has SHA instructions, and the number of its cores."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in reversed(lines) if ":" in line)
    fields = {name.strip(): value.strip() for name, value in fields.items()}
    sha = "with" if "sha_ni" in fields.get("flags", "").split() else "without"
    return f"{fields.get('model name', platform.machine())}, {os.cpu_count()} cores, {sha} SHA instructions"


def full(*names):
    """Every step of the commit that is checked out, or these. Writes the record. Returns the exit code."""
    every = (*ALWAYS, *BY_SOURCES)
    unknown = [name for name in names if name not in every]
    if unknown:
        raise Refusal(f"no such step: {', '.join(unknown)}; there are {', '.join(every)}")
    if git("status", "--porcelain"):
        raise Refusal("the work tree has changes: a record is of a commit")
    commit = git("rev-parse", "HEAD")
    results = [(name, *run_step(name)) for name in names or every]
    print_table(results)
    last = json.loads(RECORD.read_text())["steps"] if names and RECORD.exists() else []
    steps = {step["name"]: step for step in last}
    for name, passed, seconds in results:
        steps[name] = {"name": name, "commit": commit, "date": time.strftime("%Y-%m-%d", time.gmtime()), "seconds": round(seconds), "passed": passed}
    record = {"processor": processor(), "steps": [steps[name] for name in every if name in steps]}
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    print(f"commit {RECORD.relative_to(ROOT)}")
    return 0 if all(step["passed"] for step in record["steps"]) else 1


def main(arguments):
    mode, *names = arguments or [""]
    if mode not in ("run", "full") or (mode == "run" and names):
        print("usage: checks.py run | full [STEP…]", file=sys.stderr)
        return 2
    try:
        return run() if mode == "run" else full(*names)
    except Refusal as refusal:
        print(f"checks: {refusal}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
