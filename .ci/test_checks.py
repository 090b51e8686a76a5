"""Which steps a run has, and when it is refused."""

import pathlib
import subprocess
import tempfile
import unittest

import checks


def record(**seconds):
    """A record in which every step passed, in these seconds or in ten."""
    names = (*checks.ALWAYS, *checks.BY_SOURCES)
    return {"steps": [{"name": name, "commit": "a", "seconds": seconds.get(name, 10), "passed": True} for name in names]}


def selected(changed, last):
    """The steps to run if these paths have changed since every commit."""
    return checks.selected(last, lambda commit: changed)


class Selection(unittest.TestCase):
    def test_every_program_is_a_step_and_every_step_has_a_program(self):
        programs = sorted(path.name for path in (checks.ROOT / ".ci" / "steps").iterdir())
        self.assertEqual(programs, sorted((*checks.ALWAYS, *checks.BY_SOURCES)))

    def test_every_step_of_a_full_run_is_documented(self):
        text = (checks.ROOT / "CONTRIBUTING.md").read_text()
        for step in checks.BY_SOURCES:
            self.assertRegex(text, rf"(?m)^\|[^|]*`{step}`", step)

    def test_every_source_of_the_table_exists(self):
        for step, sources in checks.BY_SOURCES.items():
            for source in sources:
                found = checks.ROOT / source
                self.assertTrue(found.is_dir() if source.endswith("/") else found.is_file(), f"{step}: {source}")

    def test_every_client_and_every_directory_of_programs_is_a_source(self):
        # What cargo tests, what a person runs by hand, and what belongs to one of the tests.
        elsewhere = {"clients/README.md"} | {
            f"tests/{name}" for name in ("it", "src", "properties", "faults", "measurements", "log_sumdb", "log_witness")
        }
        for parent in ("clients", "deploy", "tests"):
            for path in (checks.ROOT / parent).iterdir():
                relative = f"{parent}/{path.name}"
                if not (path.is_dir() or parent == "clients") or relative in elsewhere or path.name in ("target", "__pycache__"):
                    continue
                inside = f"{relative}/" if path.is_dir() else relative
                self.assertTrue(any(checks.is_source(inside, step) for step in checks.BY_SOURCES), f"{relative} belongs to no step")

    def test_a_step_runs_when_one_of_its_sources_has_changed(self):
        for path, steps in {
            "web/src/portal.ts": ["pages"],
            "clients/conformance/kit.py": ["python-client", "typescript-client"],
            "tests/drills/run.py": ["drills"],
            "deploy/docker/Dockerfile": ["deployment-files", "packages"],
            ".ci/steps/drills": ["deployment-files", "drills"],
            "tests/postgres-versions": ["postgres-versions"],
        }.items():
            self.assertEqual(selected([path], record()), steps, path)

    def test_no_step_runs_because_the_server_has_changed(self):
        changed = [".ci/full.json", "bins/audit-server/src/main.rs", "crates/audit-http/src/lib.rs", "docs/openapi.json", "Cargo.lock", "tests/it/main.rs"]
        self.assertEqual(selected(changed, record()), [])

    def test_a_name_that_only_begins_like_a_source_is_none(self):
        self.assertEqual(selected(["website/a", "tests/postgres-versions.md"], record()), [])

    def test_a_step_that_failed_or_is_new_runs(self):
        last = record()
        last["steps"] = [step for step in last["steps"] if step["name"] != "pages"]
        next(step for step in last["steps"] if step["name"] == "drills")["passed"] = False
        self.assertEqual(selected([], last), ["pages", "drills"])

    def test_what_counts_is_the_commit_of_the_step_s_own_run(self):
        last = record()
        next(step for step in last["steps"] if step["name"] == "pages")["commit"] = "b"
        since = {"a": ["web/build", "tests/drills/run.py"], "b": []}
        self.assertEqual(checks.selected(last, since.get), ["drills"])

    def test_the_record_of_a_step_of_every_run_may_be_old(self):
        last = record(tests=1000)
        next(step for step in last["steps"] if step["name"] == "tests")["commit"] = "too old"
        self.assertEqual(checks.selected(last, {"a": []}.__getitem__), [])


class Time(unittest.TestCase):
    def test_a_step_fits_until_the_limit(self):
        budget = checks.Budget(record(tests=1000, drills=800), seconds_max=1800)
        self.assertTrue(budget.has_room("drills", {"tests": 1000}))
        self.assertFalse(budget.has_room("drills", {"tests": 1001}))

    def test_on_a_slower_machine_a_step_takes_longer(self):
        budget = checks.Budget(record(tests=500, pages=200), seconds_max=1400)
        self.assertTrue(budget.has_room("pages", {"tests": 1000}))
        self.assertFalse(budget.has_room("pages", {"tests": 1001}))


class History(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.git("init", "-q")
        self.recorded = self.commit("first")

    def git(self, *arguments):
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        finished = subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True, text=True)
        return finished.stdout.strip()

    def commit(self, name):
        (self.root / name).write_text(name)
        self.git("add", ".")
        self.git("commit", "-q", "-m", name)
        return self.git("rev-parse", "HEAD")

    def test_the_changes_are_those_since_the_record(self):
        self.commit("b")
        self.commit("c")
        (self.root / "c").write_text("not committed")
        (self.root / "first").unlink()
        self.assertEqual(checks.changed_since(self.recorded, self.root), ["b", "c", "first"])

    def test_a_record_that_is_too_old_is_refused(self):
        for number in range(checks.RECORD_COMMITS_MAX):
            self.commit(f"a{number}")
        self.assertEqual(len(checks.changed_since(self.recorded, self.root)), checks.RECORD_COMMITS_MAX)
        self.commit("one more")
        with self.assertRaisesRegex(checks.Refusal, "51 commits old, of at most 50"):
            checks.changed_since(self.recorded, self.root)

    def test_a_record_of_another_history_is_refused(self):
        with self.assertRaisesRegex(checks.Refusal, "not in the history"):
            checks.changed_since("0" * 40, self.root)


if __name__ == "__main__":
    unittest.main()
