#!/usr/bin/env python3
"""Attacks: one organization, or a client without an account, tries to take the service from another organization.

    tests/attacks/run.py --server target/release/audit-server --database sqlite flood query-storm

Python's standard library only. `--database postgres` needs PostgreSQL's programs; as root it runs them as another user.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "deployment"))

import anonymous
import connections
import databases
import generator
import handshakes
import markdown
import measure
import pages
import processes
import proofs
import reads
import scene as scenes
import target as targets
import webhooks
import writes
from figures import GROUPS

ALL = [
    writes.Control(),
    *connections.ALL,
    *handshakes.ALL,
    *writes.ALL,
    *webhooks.ALL,
    *reads.ALL,
    *pages.ALL,
    *proofs.ALL,
    *anonymous.ALL,
]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("attack", nargs="*", help="attacks whose names begin so; --list prints them. Default: all")
    parser.add_argument("--server", default=os.environ.get("AUDIT_SERVER_BIN"), help="path of audit-server")
    parser.add_argument("--database", choices=(*databases.KINDS, "both"), default="sqlite", help="default: sqlite")
    parser.add_argument("--tls", action="store_true", help="the server speaks TLS. Default: only where an attack needs it")
    parser.add_argument("--self-audit", choices=("on", "off"), default="on", help="the service's own events. Default: on")
    parser.add_argument("--seconds", type=float, help="of each measurement. Default: 8, with --smoke 2")
    parser.add_argument("--attempts", type=int, default=1, help="while nothing but latencies is bad. Default: 1")
    parser.add_argument("--addresses", type=int, default=1, help="source addresses of the attack. Default: 1")
    parser.add_argument("--smoke", action="store_true", help="no latencies: statuses and memory only")
    parser.add_argument("--json", help="file for the results")
    parser.add_argument(
        "--markdown", help="document for the results, such as docs/design/attacks.md; keeps the rows of other attacks"
    )
    parser.add_argument("--keep", action="store_true", help="keep the directory with logs and data")
    parser.add_argument("--list", action="store_true", help="print the attacks and exit")
    options = parser.parse_args()
    unknown = [name for name in options.attack if not any(attack.name.startswith(name) for attack in ALL)]
    if unknown:
        parser.error(f"no such attack: {', '.join(unknown)}")
    if not options.server and not options.list:
        parser.error("--server or AUDIT_SERVER_BIN names the path of audit-server")
    if options.markdown and options.smoke:
        parser.error("--smoke measures no latencies for --markdown")
    if not 1 <= options.addresses <= 200 or options.attempts < 1:
        parser.error("--addresses takes 1 to 200, --attempts at least 1")
    options.server = os.path.realpath(options.server or "")
    options.seconds = options.seconds or (2 if options.smoke else 8)
    return options


def sources(count):
    first, _, last = scenes.ATTACKER_ADDRESS.rpartition(".")
    return [f"{first}.{int(last) + number}" for number in range(count)]


def run_attack(attack, options, database, folder):
    target = targets.Target(options, database, folder, attack, sources(options.addresses))
    try:
        return measure.measure(target, attack, options.seconds, options.smoke)
    except Exception:
        print(f"{attack.name}: last lines of the server:\n{target.node.tail()}")
        raise
    finally:
        target.stop()


def attempt_attack(attack, options, database, folder):
    """The result of the last attempt: a verdict that is bad by latencies alone gets others, each on a fresh server."""
    for attempt in range(1, options.attempts + 1):
        result = run_attack(attack, options, database, folder)
        result.attempt = attempt
        if result.faults or not result.slow:
            break
    return result


def obstacle_of(attack, options, database, certificates):
    """Why an attack is not made, else None. `certificates` is why there are none."""
    if database not in attack.databases:
        return f"not on {database}"
    if certificates and (attack.needs_receivers or attack.needs_tls or options.tls):
        return f"no certificates: {certificates}"
    if attack.needs_silent_resolver and not can_mount():
        return "it needs root, unshare and the right to mount"
    return None


def can_mount():
    try:
        processes.run(["unshare", "--mount", "mount", "--bind", "/etc/resolv.conf", "/etc/resolv.conf"])
        return True
    except (OSError, RuntimeError):
        return False


def run_all(options, kind, folder, attacks):
    """The results on one database, and the names of the attacks that could not be made."""
    certificates = targets.create_certificates(folder)
    database = databases.KINDS[kind](folder)
    results, failed = [], []
    try:
        for attack in attacks:
            obstacle = obstacle_of(attack, options, kind, certificates)
            if obstacle:
                print(f"{attack.name}: SKIPPED, {obstacle}", flush=True)
                continue
            try:
                result = attempt_attack(attack, options, database, folder)
            except Exception:  # pylint: disable=broad-except
                # The other attacks still show what holds.
                traceback.print_exc()
                failed.append(attack.name)
                continue
            results.append(result)
            print(result.row(), flush=True)
    finally:
        database.stop()
    return results, failed


def main():
    options = arguments()
    if options.list:
        for attack in ALL:
            print(f"{attack.name}: {attack.summary}")
        return 0
    # So that the server ends with this process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    attacks = [
        attack for attack in ALL if not options.attack or any(attack.name.startswith(name) for name in options.attack)
    ]
    results, failed = {}, []
    for kind in databases.KINDS if options.database == "both" else (options.database,):
        results[kind], not_made = run_on(options, kind, attacks)
        failed += not_made
        if options.markdown:
            # After each database, so that an interrupted run has written what it measured.
            markdown.write(options, ALL, results)
    if options.json:
        summaries = [{"database": kind, **result.summary()} for kind in results for result in results[kind]]
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(summaries, file, indent=1)
    measured = [result for kind in results for result in results[kind]]
    bad = [result.attack.name for result in measured if result.problems]
    print(f"\n{len(measured)} attacks; bad: {', '.join(bad) or 'none'}; not made: {', '.join(failed) or 'none'}")
    return 1 if bad or failed else 0


def run_on(options, kind, attacks):
    """As `run_all`, in a directory of its own."""
    folder = tempfile.mkdtemp(prefix="attacks-")
    # PostgreSQL runs as another user and must reach its directory.
    os.chmod(folder, 0o711)
    print(
        f"{kind}, {options.seconds:g} s for each measurement, {os.cpu_count()} processors; {generator.PROCESSES}"
        f" generator processes with niceness {generator.NICENESS}; TLS {'on' if options.tls else 'off'}, own events"
        f" {options.self_audit}. Milliseconds: {' / '.join(GROUPS)}.\n"
    )
    print(measure.HEADER, flush=True)
    try:
        return run_all(options, kind, folder, attacks)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
