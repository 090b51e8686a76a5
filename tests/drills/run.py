#!/usr/bin/env python3
"""Drills: three nodes on one PostgreSQL, or one on SQLite, are disturbed while clients write, and nothing acknowledged may be lost.

    AUDIT_SERVER_BIN=target/release/audit-server tests/drills/run.py --cycles 200 kill freeze

Python's standard library only. Needs PostgreSQL's programs; as root it runs them as another user.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
import traceback

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "deployment"))

import check
import drills
import load
import service

# Cycles on one database. After the last of them the feeds are read from their beginning, every actor is queried again, and the logs are
# verified: all of that takes longer with each cycle.
DATABASE_CYCLES = 20
# Requests of each node from which its rate before a disturbance is taken.
BEFORE_REQUESTS = 100


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [drill.name for drill in drills.ALL]
    by_hand = ", ".join(drill.name for drill in drills.ALL if drill.is_by_hand)
    parser.add_argument("drill", nargs="*", help=f"{', '.join(names)}. Default: all but {by_hand}")
    parser.add_argument("--server", default=os.environ.get("AUDIT_SERVER_BIN"), help="path of audit-server")
    parser.add_argument("--previous", help="path of audit-server of the version before, for upgrade and upgrade-sqlite. Default: --server")
    parser.add_argument("--cycles", type=int, default=1, help="disturbances of each drill. Default: 1")
    parser.add_argument("--seconds", type=float, default=4, help="duration of a disturbance. Default: 4")
    parser.add_argument("--projects", type=int, default=3, help="projects written to. Default: 3")
    parser.add_argument("--writers", type=int, default=6, help="concurrent clients. Default: 6")
    parser.add_argument("--pause-seconds", type=float, default=0, help="of each client before a request. Default: none")
    parser.add_argument("--gap-seconds-max", type=float, help="fail if an undisturbed node has a longer gap")
    parser.add_argument("--require-namespaces", action="store_true", help="fail instead of skipping")
    parser.add_argument("--json", help="file for the results")
    parser.add_argument("--keep", action="store_true", help="keep the directory with logs and data")
    options = parser.parse_args()
    unknown = set(options.drill) - set(names)
    if unknown:
        parser.error(f"no such drill: {', '.join(sorted(unknown))}")
    if not options.server:
        parser.error("--server or AUDIT_SERVER_BIN names the path of audit-server")
    options.server = os.path.realpath(options.server)
    if options.previous:
        drills.Upgrade.previous = os.path.realpath(options.previous)
    return options


def run_drill(kind, options):
    """Runs the cycles of a drill. Returns a result for each."""
    results = []
    for first in range(0, options.cycles, DATABASE_CYCLES):
        results += run_on_new_database(kind, options, range(first, min(first + DATABASE_CYCLES, options.cycles)))
        if has_wrong_counts(results[-1]):
            break
    return results


def run_on_new_database(kind, options, cycles):
    """Runs some cycles of a drill. Returns a result for each."""
    folder = tempfile.mkdtemp(prefix="drills-")
    # PostgreSQL runs as another user and must reach its directory.
    os.chmod(folder, 0o711)
    drill = kind(folder, options.server, options.seconds)
    try:
        drill.start()
        master_key = service.create_organization(drill.binary, drill.url(), "drills")["master_key"]
        drill.start_nodes()
        names = [f"project {number}" for number in range(options.projects)]
        projects = [service.create_project(drill.nodes[0], master_key, name) for name in names]
        drill.administration = (master_key, [project for project, _ in projects])
        return run_cycles(drill, options, cycles, [key for _, key in projects])
    except Exception:
        print(f"{drill.name}: directory {folder}; last lines of the nodes:")
        for node in drill.nodes:
            print(f"--- {node.name}\n{node.tail() if os.path.exists(node.log) else 'not started'}")
        raise
    finally:
        drill.stop()
        if not options.keep:
            drills.remove(folder)


def run_cycles(drill, options, cycles, keys):
    record = load.Record(options.projects, drill.loses)
    checker = check.Checker(record, keys, options.server)
    results = []
    for number in cycles:
        if number > cycles[0]:
            drill.mend()
        first = number * options.writers
        nodes = range(len(drill.addresses()))
        with load.Load(drill.addresses(), keys, record, options.writers, first, options.pause_seconds) as running:
            drill.wait_for_all(running)
            started = time.monotonic()
            running.wait_for(nodes, BEFORE_REQUESTS)
            before = record.rate(nodes, started, time.monotonic()) / len(nodes)
            disturbance = drill.cycle(number, running)
            end = time.monotonic()
        gap = max(record.longest_gap(node, disturbance.begin, end) for node in disturbance.others)
        # A cursor can be ahead of a log that lost events.
        everything = drill.loses or number == cycles[-1]
        node = drill.nodes[number % drill.nodes_count]
        counts = checker.check(node, drill, everything)
        result = {
            "drill": drill.name,
            "loses": drill.loses,
            "cycle": number + 1,
            "acknowledged": record.total(),
            **counts,
            "longest_gap_seconds": round(gap, 2),
            "rate_of_others": rate_of_others(record, disturbance, before),
            "remark": disturbance.remark,
        }
        results.append(result)
        show(result)
        if has_wrong_counts(result):
            break
    refused = ", ".join(f"{count} × {status or 'no response'}" for status, count in record.refused.items())
    print(f"{drill.name}: refused attempts, all repeated: {refused or 'none'}", flush=True)
    for problem in record.problems[:5]:
        print(f"{drill.name}: {problem}")
    return results


def rate_of_others(record, disturbance, before):
    """The rate of an undisturbed node during the disturbance, over that of a node before. None if no node is undisturbed."""
    if disturbance.end is None:
        return None
    rate = record.rate(disturbance.others, disturbance.begin, disturbance.end) / len(disturbance.others)
    return round(rate / before, 2)


def show(result):
    rate = "" if result["rate_of_others"] is None else f", their rate × {result['rate_of_others']}"
    counts = ", ".join(f"{name.replace('_', ' ')} {result[name]}" for name in COUNTS)
    print(
        f"{result['drill']} {result['cycle']}: acknowledged {result['acknowledged']}, {counts}, longest gap of the others"
        f" {result['longest_gap_seconds']} s{rate} ({result['remark']})",
        flush=True,
    )


COUNTS = ("lost", "twice", "changed", "unknown", "not_found", "unindexed", "unsigned")


def has_wrong_counts(result):
    return any(result[name] for name in COUNTS if not (name == "lost" and result["loses"]))


def is_failed(result, options):
    if has_wrong_counts(result):
        return True
    limit = options.gap_seconds_max
    return limit is not None and result["longest_gap_seconds"] > limit


def main():
    options = arguments()
    # So that a drill ends its processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    results, failed = [], []
    for kind in drills.ALL:
        if kind.name not in options.drill and (options.drill or kind.is_by_hand):
            continue
        obstacle = kind.obstacle()
        if obstacle:
            what = "network namespaces" if kind.needs_namespaces else kind.name
            print(f"{kind.name}: SKIPPED, {what} cannot be used: {obstacle}", flush=True)
            if options.require_namespaces or kind.is_by_hand:
                failed.append(kind.name)
            continue
        try:
            of_drill = run_drill(kind, options)
        except Exception:  # pylint: disable=broad-except
            # The other drills still show what holds.
            traceback.print_exc()
            failed.append(kind.name)
            continue
        results += of_drill
        if any(is_failed(result, options) for result in of_drill):
            failed.append(kind.name)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    print(f"{len(results)} cycles; failed drills: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
