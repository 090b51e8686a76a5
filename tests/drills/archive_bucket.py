#!/usr/bin/env python3
"""The copy of an archive in a bucket: `archive create` is killed while it puts files there, and at the end the bucket has a whole archive.

    AUDIT_SERVER_BIN=target/release/audit-server tests/drills/archive_bucket.py --kills 40

The bucket is moto's, in the virtual environment of `destinations.py`.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from destinations import TOOLS, enter_environment

EVENTS = 600
FILE_EVENTS = 20
# What the bucket has when the command is killed; each but the first must have been hit.
STATES = ("nothing", "a file without its manifest", "whole parts")
KILLS_MAX = 400
# After so many kills on average the next run begins without the directory.
LOST_DIRECTORY_EVERY = 4


class Drill:
    """A node, the bucket, and the directory of the archive."""

    def __init__(self, options, folder):
        # They need the packages of the environment.
        import receivers  # pylint: disable=import-outside-toplevel
        import service  # pylint: disable=import-outside-toplevel

        self.service, self.bucket_name = service, receivers.BUCKET
        self.options, self.folder = options, folder
        self.random = random.Random(options.seed)
        self.url = f"sqlite:{os.path.join(folder, 'audit.db')}"
        self.node = service.Node(0, options.server, self.url, folder)
        self.moto = receivers.Moto(folder)
        self.directory = os.path.join(folder, "archive")
        self.prefixes = 0
        self.hits = dict.fromkeys(STATES, 0)

    def start(self):
        created = self.service.create_organization(self.options.server, self.url, "drill")
        self.project, self.master_key, self.project_key = (created[name] for name in ("project_id", "master_key", "project_key"))
        self.node.start()
        for _ in range(EVENTS // 100):
            event = {"action": "drill.tried", "category": "system", "tenant_id": "drill", "actor": {"id": "drill", "type": "service"}}
            self.service.post(self.node, self.project_key, "/api/v1/events", [event] * 100)
        self.moto.start()
        self.moto.create()
        self.client = self.moto.client()
        self.key = self.run("log", "key").stdout.strip()
        # A directory without a bucket, until all events are signed.
        month = time.strftime("%Y-%m", time.gmtime())
        self.create = ("archive", "create", "--to", self.directory, "--until", month)
        deadline = time.monotonic() + 60
        while f"first {EVENTS} positions" not in self.verify(self.directory).stdout:
            if time.monotonic() > deadline:
                raise RuntimeError("not all events are signed in time")
            self.run(*self.create)
        shutil.rmtree(self.directory)
        self.create += ("--events-per-file", str(FILE_EVENTS))

    def environment(self):
        settings = {"AUDIT_STATE_DIR": self.node.state}
        destination = self.moto.destination()
        settings["AUDIT_ARCHIVE_BUCKET"] = destination["settings"]["url"].removesuffix("/log") + f"/archives/{self.prefixes}"
        settings["AUDIT_ARCHIVE_BUCKET_ACCESS_KEY"] = destination["credentials"]["access_key"]
        settings["AUDIT_ARCHIVE_BUCKET_SECRET_KEY"] = destination["credentials"]["secret_key"]
        return {**self.service.environment(self.url), **settings}

    def run(self, *arguments, with_bucket=False):
        environment = self.environment()
        if not with_bucket:
            del environment["AUDIT_ARCHIVE_BUCKET"]
        return subprocess.run([self.options.server, *arguments], env=environment, capture_output=True, text=True, check=False)

    def verify(self, directory):
        return self.run("archive", "verify", directory, "--key", self.key)

    def objects(self):
        """The objects below the prefix, and their contents' tags."""
        prefix = f"archives/{self.prefixes}/"
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket_name, Prefix=prefix)
        return {entry["Key"].removeprefix(prefix): entry["ETag"] for page in pages for entry in page.get("Contents", ())}

    def state(self, objects):
        """Raises where a manifest is without its file, or an earlier part is missing."""
        files = sorted(os.path.basename(name).removesuffix(".parquet") for name in objects if name.endswith(".parquet"))
        named = sorted(os.path.basename(name)[len("_manifest-") : -len(".json")] for name in objects if name.endswith(".json"))
        ends = ["000000000000", *(name.split("-")[1] for name in files)]
        require(named == files[: len(named)] and len(files) - len(named) <= 1, f"files {files}, manifests {named}")
        require([name.split("-")[0] for name in files] == ends[:-1], f"files {files}")
        return STATES[0] if not files else STATES[1] if len(files) > len(named) else STATES[2]

    def kill(self):
        """Kills one run when the bucket has so many objects. Whether it was not too late."""
        before = self.objects()
        wanted = len(before) + self.random.randrange(6)
        with open(os.path.join(self.folder, "create.log"), "ab") as log:
            command = [self.options.server, *self.create]
            with subprocess.Popen(command, env=self.environment(), stdout=log, stderr=log) as process:
                while process.poll() is None and len(self.objects()) < wanted:
                    pass
                process.kill()
        require(process.returncode in (0, -signal.SIGKILL), f"archive create ended with {process.returncode}")
        after = self.objects()
        require(before.items() <= after.items(), "an object was replaced or is gone")
        self.hits[self.state(after)] += process.returncode != 0
        if self.random.randrange(LOST_DIRECTORY_EVERY) == 0:
            # It may have been killed before it made it.
            shutil.rmtree(self.directory, ignore_errors=True)
        return process.returncode != 0

    def finish(self, *more):
        """One more run completes the copy. A download is verified, and has what the directory has."""
        before = self.objects()
        finished = self.run(*self.create, *more, with_bucket=True)
        require(finished.returncode == 0, finished.stderr)
        require(not more or f"{EVENTS} positions are archived" in finished.stdout, finished.stdout)
        after = self.objects()
        require(before.items() <= after.items() and self.state(after) == STATES[2], "the copy is not whole")
        copy = os.path.join(self.folder, f"copy-{self.prefixes}")
        for name in after:
            os.makedirs(os.path.dirname(os.path.join(copy, name)), exist_ok=True)
            self.client.download_file(self.bucket_name, f"archives/{self.prefixes}/{name}", os.path.join(copy, name))
        verified = self.verify(copy)
        require(verified.returncode == 0 and f"first {EVENTS}" in verified.stdout, verified.stdout + verified.stderr)
        require(verified.stdout == self.verify(self.directory).stdout, "the directory has another archive")
        if not more:
            again = self.run(*self.create, with_bucket=True)
            require(again.returncode == 0 and self.objects() == after, f"a repeated run changed the bucket: {again}")
        self.prefixes += 1
        shutil.rmtree(self.directory)

    def refuse(self):
        """Objects that are not of the archive are kept, and nothing follows them."""
        complete = self.run(*self.create, with_bucket=True)
        require(complete.returncode == 0, complete.stderr)
        objects = sorted(self.objects())
        files = [name for name in objects if name.endswith(".parquet")]
        manifests = [name for name in objects if name.endswith(".json")]
        first_of_another = f"{os.path.dirname(files[0])}/_manifest-000000000000-{EVENTS:012}.json"
        longer = f"{os.path.dirname(files[-1])}/{EVENTS:012}-{EVENTS + 7:012}.parquet"
        cases = (
            # What the bucket has, what it lacks meanwhile, and what the command says.
            ({files[-1]: b"another"}, [manifests[-1]], "something else is stored as"),
            ({manifests[-1]: b"another"}, [files[-1]], "something else is stored as"),
            ({manifests[0]: b"another"}, [], "the bucket has another"),
            ({longer: b"another"}, [], f"the bucket has {longer}"),
            ({first_of_another: b"another"}, [], "two manifests of the bucket begin at 0"),
        )
        for others, missing, message in cases:
            whole = {name: self.get(name) for name in (*others, *missing) if name in objects}
            for name in missing:
                self.client.delete_object(Bucket=self.bucket_name, Key=self.full(name))
            for name, content in others.items():
                self.client.put_object(Bucket=self.bucket_name, Key=self.full(name), Body=content)
            refused = self.run(*self.create, with_bucket=True)
            require(refused.returncode == 1 and message in refused.stderr, f"{message}: {refused}")
            for name, content in others.items():
                require(self.get(name) == content, f"{name} was replaced")
                self.client.delete_object(Bucket=self.bucket_name, Key=self.full(name))
            for name, content in whole.items():
                self.client.put_object(Bucket=self.bucket_name, Key=self.full(name), Body=content)
        # It stores an event, which a further run would archive as well.
        self.finish("--record")

    def list_pages(self):
        """The store lists 1,000 objects in a response: a run with more finds nothing to do, and one without the directory takes all."""
        create = (*self.create[:-1], "1")
        written = self.run(*create, with_bucket=True)
        require(written.returncode == 0 and len(self.objects()) > 1_000, f"{written.stdout[-300:]} {written.stderr}")
        again = self.run(*create, with_bucket=True)
        require(again.returncode == 0 and "is in the bucket" not in again.stdout, f"{again.stdout[-300:]} {again.stderr}")
        shutil.rmtree(self.directory)
        self.finish()

    def full(self, name):
        return f"archives/{self.prefixes}/{name}"

    def get(self, name):
        return self.client.get_object(Bucket=self.bucket_name, Key=self.full(name))["Body"].read()

    def stop(self):
        self.node.stop()
        self.moto.stop()


def require(condition, what):
    if not condition:
        raise AssertionError(what)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default=os.environ.get("AUDIT_SERVER_BIN"), help="path of audit-server")
    parser.add_argument("--kills", type=int, default=20, help="at least. Default: 20")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of the random choices. Default: another one each time")
    parser.add_argument("--tools", default=TOOLS, help="directory of the packages. Default: target/drills")
    options = parser.parse_args()
    if not options.server:
        parser.error("--server or AUDIT_SERVER_BIN names the path of audit-server")
    options.server = os.path.realpath(options.server)
    return options


def main():
    options = arguments()
    enter_environment(os.path.realpath(options.tools))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="archive-bucket-") as folder:
        drill = Drill(options, folder)
        try:
            drill.start()
            kills = 0
            while kills < options.kills or not all(drill.hits[state] for state in STATES[1:]):
                require(kills < KILLS_MAX, f"not every state was hit: {drill.hits}")
                if drill.kill():
                    kills += 1
                else:
                    drill.finish()
            drill.finish()
            drill.list_pages()
            drill.refuse()
        finally:
            drill.stop()
    print(f"{kills} kills, the bucket had {drill.hits}; {drill.prefixes} copies were completed and verified")


if __name__ == "__main__":
    main()
