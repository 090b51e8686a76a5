#!/usr/bin/env python3
"""Follows the event feed and appends every event to a file exactly once, as JSON lines.

    export AUDIT_KEY=pk_live_…          # or a viewer token
    python3 follow.py http://127.0.0.1:8080/api/v1 events.jsonl
    python3 follow.py http://127.0.0.1:8080/api/v1 events.jsonl --filter action='auth.*' --once

It needs Python 3.9 or later and nothing else. It may be stopped, killed and restarted at any time: it continues from the
cursor beside the file, and the next start repairs a file that is ahead of its cursor after a crash.
"""

import argparse
import email.utils
import json
import os
import random
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

WAIT_SECONDS = 30
# Longer than the server waits, so that a dead connection is detected.
TIMEOUT_SECONDS = WAIT_SECONDS + 30
PAGE_EVENTS_MAX = 200
PAUSE_SECONDS_MAX = 60
# A page and an unfinished line fit in this: an event has up to 64 KiB.
TAIL_BYTES_MAX = (PAGE_EVENTS_MAX + 1) * 128 * 1024


class Refused(Exception):
    """The request is invalid or not allowed: a retry would get the same response."""


class EventFile:
    """A file of events, one per line, and a file with the cursor behind the last of them.

    Events are written and synced before the cursor. After a crash in between, the same page is read again and its events
    are recognised by their ids. At most one page can be written without its cursor.
    """

    def __init__(self, path):
        self.cursor_path = path + ".cursor"
        self.file = open(path, "a+b")
        self.recent_ids = self._repair()

    def _repair(self):
        """Truncates an unfinished line and returns the ids of the last page."""
        size = self.file.seek(0, os.SEEK_END)
        self.file.seek(max(0, size - TAIL_BYTES_MAX))
        tail = self.file.read()
        finished = tail[: tail.rfind(b"\n") + 1]
        self.file.truncate(size - len(tail) + len(finished))
        lines = finished.split(b"\n")[-PAGE_EVENTS_MAX - 1 : -1]
        # The read may have begun in the middle of the first line.
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
        if events:
            self.recent_ids = set()
        self.file.flush()
        os.fsync(self.file.fileno())
        with open(self.cursor_path + ".new", "w", encoding="ascii") as file:
            file.write(cursor)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.cursor_path + ".new", self.cursor_path)


def read_page(base_url, key, parameters):
    """Returns one page of the feed. Raises OSError for a temporary failure."""
    url = base_url.rstrip("/") + "/events/feed?" + urllib.parse.urlencode(parameters)
    request = urllib.request.Request(url, headers={"Authorization": "Bearer " + key})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        if error.code >= 500 or (error.code == 429 and retry_after(error) is not None):
            raise
        text = error.read().decode()
        if error.code == 410 and '"events_removed"' in text:
            print("events that were not read yet were removed from the log; the others follow", file=sys.stderr)
            return {"events": [], "cursor": json.loads(text)["error"]["cursor"], "has_more": True}
        raise Refused(f"{error.code}: {text}") from error
    except ValueError as error:
        # The connection broke in the middle of the response.
        raise OSError(f"incomplete response: {error}") from error


def retry_after(error):
    """The pause that the server asks for, in seconds."""
    value = (getattr(error, "headers", None) or {}).get("Retry-After", "").strip()
    if value.isdigit():
        return int(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def pause_after(error, failures):
    """The pause before the next attempt, in seconds. The jitter keeps followers from returning all at once."""
    pause = min(2**failures, PAUSE_SECONDS_MAX / 2) * (1 + random.random())
    return max(pause, retry_after(error) or 0)


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
            print(f"{error}; next attempt in {pause:.1f} s", file=sys.stderr)
            time.sleep(pause)
            failures += 1
            continue
        failures = 0
        events.append(page["events"], page["cursor"])
        if once and not page["has_more"]:
            return


def main():
    parser = argparse.ArgumentParser(description="Appends every event of the feed to a file exactly once.")
    parser.add_argument("base_url", help="http://127.0.0.1:8080/api/v1")
    parser.add_argument("file", help="file to append the events to")
    parser.add_argument("--filter", action="append", default=[], metavar="NAME=VALUE", help="filter of the feed, such as action=auth.*")
    parser.add_argument("--once", action="store_true", help="exit at the end of the feed")
    arguments = parser.parse_args()
    filters = dict(text.split("=", 1) for text in arguments.filter)
    try:
        key = os.environ["AUDIT_KEY"]
        follow(arguments.base_url, key, filters, EventFile(arguments.file), arguments.once)
    except KeyError:
        sys.exit("AUDIT_KEY is not set")
    except Refused as error:
        sys.exit(f"refused: {error}")
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
