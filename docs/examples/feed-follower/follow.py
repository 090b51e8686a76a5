#!/usr/bin/env python3
"""Follows the event feed and appends every event to a file, each once, as JSON lines.

    export AUDIT_KEY=pk_live_…          # or a viewer token
    python3 follow.py http://127.0.0.1:8080/api/v1 events.jsonl
    python3 follow.py http://127.0.0.1:8080/api/v1 events.jsonl --filter action='auth.*' --once

Python 3.9 or later, nothing else. It may be stopped, killed and started again at any moment: the cursor beside the file
says where to go on, and what a crash has left between the two is put right at the next start.
"""

import argparse
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

WAIT_SECONDS = 30
# More than the server waits: a connection that is dead is given up.
TIMEOUT_SECONDS = WAIT_SECONDS + 30
PAGE_EVENTS_MAX = 200
PAUSE_SECONDS_MAX = 60
# A last line that is longer than this is none of ours: an event has up to 64 KiB.
TAIL_BYTES_MAX = (PAGE_EVENTS_MAX + 1) * 128 * 1024


class Refused(Exception):
    """The server will not answer the same request otherwise."""


class EventFile:
    """Events as lines, and the cursor behind them.

    Events are written and synced before the cursor is. After a crash in between they come again, and are known by
    their ids: a page is the most that can have been written without its cursor.
    """

    def __init__(self, path):
        self.cursor_path = path + ".cursor"
        self.file = open(path, "a+b")
        self.recent_ids = self._repair()

    def _repair(self):
        """Drops a line that was not finished, and gives the ids of the last page."""
        size = self.file.seek(0, os.SEEK_END)
        self.file.seek(max(0, size - TAIL_BYTES_MAX))
        tail = self.file.read()
        finished = tail[: tail.rfind(b"\n") + 1]
        self.file.truncate(size - len(tail) + len(finished))
        lines = finished.split(b"\n")[-PAGE_EVENTS_MAX - 1 : -1]
        # The first one may have been cut by where the reading began.
        lines = lines[1:] if size > TAIL_BYTES_MAX else lines
        return {json.loads(line)["id"] for line in lines}

    def cursor(self):
        try:
            with open(self.cursor_path, encoding="ascii") as file:
                return file.read() or None
        except FileNotFoundError:
            return None

    def append(self, events, cursor):
        for event in events:
            if event["id"] not in self.recent_ids:
                line = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
                self.file.write(line.encode() + b"\n")
        self.recent_ids = set()
        self.file.flush()
        os.fsync(self.file.fileno())
        with open(self.cursor_path + ".new", "w", encoding="ascii") as file:
            file.write(cursor)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.cursor_path + ".new", self.cursor_path)


def read_page(base_url, key, parameters):
    """One answer of the feed. Raises OSError for what may be over soon."""
    url = base_url.rstrip("/") + "/events/feed?" + urllib.parse.urlencode(parameters)
    request = urllib.request.Request(url, headers={"Authorization": "Bearer " + key})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 429 or error.code >= 500:
            raise
        raise Refused(f"{error.code}: {error.read().decode()}") from error
    except ValueError as error:
        # The connection broke within the answer.
        raise OSError(f"no whole answer: {error}") from error


def pause_after(error, failures):
    """How many seconds to wait before the next try."""
    retry_after = getattr(error, "headers", None) and error.headers.get("Retry-After")
    if retry_after and retry_after.isdigit():
        return int(retry_after)
    return min(2**failures, PAUSE_SECONDS_MAX)


def follow(base_url, key, filters, events, once):
    failures = 0
    while True:
        parameters = {**filters, "limit": PAGE_EVENTS_MAX, "wait": 0 if once else WAIT_SECONDS}
        cursor = events.cursor()
        if cursor:
            parameters["after"] = cursor
        try:
            page = read_page(base_url, key, parameters)
        except OSError as error:
            pause = pause_after(error, failures)
            print(f"{error}; once more in {pause} s", file=sys.stderr)
            time.sleep(pause)
            failures += 1
            continue
        failures = 0
        events.append(page["events"], page["cursor"])
        if once and not page["has_more"]:
            return


def main():
    parser = argparse.ArgumentParser(description="Appends every event of the feed to a file, each once.")
    parser.add_argument("base_url", help="http://127.0.0.1:8080/api/v1")
    parser.add_argument("file", help="where to append the events")
    parser.add_argument("--filter", action="append", default=[], metavar="NAME=VALUE", help="such as action=auth.*")
    parser.add_argument("--once", action="store_true", help="end when everything has been read")
    arguments = parser.parse_args()
    filters = dict(text.split("=", 1) for text in arguments.filter)
    try:
        key = os.environ["AUDIT_KEY"]
        follow(arguments.base_url, key, filters, EventFile(arguments.file), arguments.once)
    except KeyError:
        sys.exit("AUDIT_KEY is not set")
    except Refused as error:
        sys.exit(f"refused with {error}")
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
