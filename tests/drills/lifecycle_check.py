"""What must hold after `lifecycle.py`: nothing acknowledged is gone without a reason, and nothing is left of what went."""

import json
import os
import re
import subprocess
import zlib

import check
import service
from lifecycle_clients import MARKER_END, MARKER_LENGTH, received_at, seconds_of

# So many last letters of a marker are compared: an index may share the first ones with another word.
COMPARED = 10
FOUND = re.compile(rb"[a-p]{%d}(?=%s)" % (COMPARED, MARKER_END.encode()))
# The same as hexadecimal digits, in which PostgreSQL shows bytes.
HEX_FOUND = re.compile(rb"(?:6[1-9a-f]|70){%d}(?=%s)" % (COMPARED, MARKER_END.encode().hex().encode()))
GZIP = b"\x1f\x8b\x08"
TABLES = "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"


def command(drill, *arguments, accepted=(0,)):
    """The output of a command of the server, at the time of the drill."""
    settings = {"AUDIT_STATE_DIR": drill.node.state, **drill.clock.settings()}
    finished = subprocess.run(
        [drill.options.server, *arguments],
        env={**service.environment(drill.url), **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode not in accepted:
        raise RuntimeError(f"{' '.join(arguments)}: exit code {finished.returncode}: {finished.stdout[-600:]} {finished.stderr[-600:]}")
    return finished.stdout


def log_key(drill):
    return command(drill, "log", "key").strip()


def verify_archive(drill, directory):
    return command(drill, "archive", "verify", directory, "--key", log_key(drill))


def check_all(drill):
    """Returns what is wrong, once all removals are done."""
    problems = []
    gone, left = set(), set()
    for log in drill.logs:
        found, gone_of_log, left_of_log = check_log(drill, log)
        problems += [f"{log.name}: {problem}" for problem in found]
        gone |= gone_of_log
        left |= left_of_log
    persons = {text for log in drill.logs for person in log.persons for text in (person.identifier, person.text)}
    # The server runs: its write-ahead log has nothing either.
    problems += traces(drill, "while it runs", persons, left)
    drill.watch.close()
    drill.node.end()
    problems += traces(drill, "after it has ended", persons | gone, left)
    ledgers = json.loads(command(drill, "log", "verify", "--json", "--index", accepted=(0, 1)))["ledgers"]
    problems += [f"log verify: {finding}" for ledger in ledgers for finding in ledger["findings"]]
    problems += check_archives(drill, persons | gone, left)
    print(
        f"{sum(len(log.persons) for log in drill.logs)} persons are erased; {len(gone)} words of removed events are gone,"
        f" {len(left)} of others are left; {drill.archive.verified} archives were completed and verified"
    )
    return problems


def check_log(drill, log):
    """What is wrong with a log, the markers that must be gone, and those that may be there."""
    administrator = service.Connection(drill.node, timeout=60)
    removals = administrator.get(log.path("/retention"), log.master_key)["removals"]
    erasures = administrator.get(log.path("/erasures"), log.master_key)["erasures"]
    problems = [f"not done: {one}" for one in removals + erasures if one["state"] != "done"]
    before = removed_before(removals)
    stored, chained = feed_of(administrator, log)
    unknown = [identifier for identifier in stored if identifier not in log.events]
    if unknown:
        problems.append(f"{len(unknown)} events were never acknowledged, such as {unknown[0]}")
    gone, left, missing = set(), set(), 0
    for identifier, value in log.events.items():
        event, is_person = stored.get(identifier), not isinstance(value, set)
        missing += event is None
        # The id has milliseconds, and so have the times of removals.
        is_old = received_at(identifier) < before and identifier not in drill.restored
        if event is None and not is_old and not (is_person and may_go_whole(value)):
            problems.append(f"{identifier} is gone")
        elif event is not None and is_old:
            problems.append(f"{identifier} is there, and was to be removed")
        elif event is not None and is_person and "erased" not in event:
            problems.append(f"{identifier} is as it was, and was to be erased")
        if not is_person:
            (gone if event is None else left).update(value)
    report = json.loads(command(drill, "log", "report", "--project", log.project, accepted=(0, 1)))
    counts = report["counts"]
    # Each acknowledged event has a position, and each position has its reason.
    expected = {"positions": len(log.events) + chained, "removed": missing, "unexplained": 0}
    if report["verified"]["findings"] or expected != {name: counts[name] for name in expected}:
        problems.append(f"log report: {counts}, expected {expected}; {report['verified']}")
    state = os.path.join(drill.folder, f"{log.project}.audit")
    address = f"http://{drill.node.address[0]}:{drill.node.address[1]}"
    audit = ("log", "audit", "--url", address, "--key", log.project_key, "--state", state)
    try:
        command(drill, *audit)
    except RuntimeError as error:
        problems.append(str(error))
    print(
        f"{log.name}: {len(log.events)} events were acknowledged, {missing} of them are removed by {len(removals)} removals and"
        f" {len(log.persons)} erasures of persons; {counts['erased']} lost parts; {chained} events of the log's own chain"
    )
    return problems, gone, left


def removed_before(removals):
    """The latest time before which one of them took events, in seconds since 1970."""
    return max((seconds_of(time) for removal in removals for time in removal["received_before"].values()), default=0)


def may_go_whole(person):
    """Events whose tenant is the person go as a whole, whatever the extent."""
    return person.is_done


def feed_of(connection, log):
    """The events of the feed by id, and how many events of retention and erasures it has."""
    stored, chained, cursor = {}, 0, ""
    while True:
        page = connection.get(f"/api/v1/events/feed?limit={check.PAGE_EVENTS}{cursor}", log.project_key)
        for event in page["events"]:
            if event["tenant_id"] == "audit-server":
                chained += 1
            elif event["id"] in stored:
                raise RuntimeError(f"{event['id']} is in the feed twice")
            else:
                stored[event["id"]] = event
        cursor = f"&after={page['cursor']}"
        if not page["has_more"]:
            return stored, chained


def endings(texts):
    return {text.removesuffix(MARKER_END)[-COMPARED:].encode() for text in texts}


def traces(drill, when, gone, left):
    """Where markers are that must be gone. Those that are left show that this finds them."""
    gone, left, problems, seen = endings(gone), endings(left), [], set()
    for place, data in places(drill):
        found = {match[-COMPARED:] for match in FOUND.findall(data)}
        found |= {bytes.fromhex(match.decode()) for match in HEX_FOUND.findall(data)}
        seen |= found & left
        if found & gone:
            problems.append(f"{len(found & gone)} words that must be gone are in {place} {when}, such as {min(found & gone)}")
    if len(seen) < len(left) * 0.9:
        problems.append(f"only {len(seen)} of {len(left)} words that are left were found {when}: this search proves nothing")
    return problems


def places(drill):
    """The bytes of all files of the database and of the node, and the rows of PostgreSQL: its pages are its own."""
    server = getattr(drill.database, "server", None)
    for folder, _, names in os.walk(drill.folder):
        if os.path.basename(folder).startswith("archive-") or (server and folder.startswith(server.folder)):
            continue
        for name in names:
            path = os.path.join(folder, name)
            if "/archive-" not in path:
                with open(path, "rb") as file:
                    yield path, file.read()
    for (table,) in server.query(TABLES, drill.watch.name) if server else ():
        rows = server.query(f"SELECT row::text FROM {table} AS row", drill.watch.name)
        yield table, "\n".join("\t".join(row) for row in rows).encode()


def check_archives(drill, gone, left):
    """The one that was interrupted last is completed. One that is begun now has nothing of what is gone."""
    problems = []
    for _ in range(2):
        command(drill, *drill.archive.command())
        verify_archive(drill, drill.archive.directory)
        drill.archive.number += 1
    directory = os.path.join(drill.folder, f"archive-{drill.archive.number - 1}")
    found = set()
    for folder, _, names in os.walk(directory):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                for match in FOUND.findall(unpacked(file.read())):
                    found.add(match)
    left = endings(left)
    if found & endings(gone) or len(found & left) < len(left) * 0.9:
        problems.append(f"archive: {len(found & endings(gone))} words that must be gone, {len(found & left)} of {len(left)} that are left")
    return problems


def unpacked(data):
    """A file with its compressed pages."""
    parts, position = [data], data.find(GZIP)
    while position >= 0:
        try:
            parts.append(zlib.decompressobj(31).decompress(data[position:]))
        except zlib.error:
            # These bytes are no beginning of a page.
            pass
        position = data.find(GZIP, position + 1)
    return b"\n".join(parts)
