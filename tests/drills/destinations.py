#!/usr/bin/env python3
"""Destinations: one node is killed while events are stored and receivers go down and come up, and each receiver must have everything.

    AUDIT_SERVER_BIN=target/release/audit-server tests/drills/destinations.py --kills 200 --database postgres

The receivers are rsyslog, syslog-ng, moto, SeaweedFS and stand-ins for Splunk, Datadog and OpenTelemetry. The first run makes a virtual
environment with requirements-destinations.txt, and unpacks Debian's packages of rsyslog and syslog-ng if they are not installed.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.join(HERE, "..", "..", "target", "drills")

sys.path.append(os.path.join(HERE, "..", "deployment"))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="*", help="kills, cases. Default: both")
    parser.add_argument("--server", default=os.environ.get("AUDIT_SERVER_BIN"), help="path of audit-server")
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite", help="default: sqlite")
    parser.add_argument("--kills", type=int, default=20, help="of the node. Default: 20")
    parser.add_argument("--rate", type=float, default=400, help="events per second, in all. Default: 400")
    parser.add_argument("--receivers", help="names of the receivers of the kills, separated by commas. Default: all")
    parser.add_argument("--cases", help="names of the cases, separated by semicolons. Default: all")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of the random choices. Default: another one each time")
    parser.add_argument("--tools", default=TOOLS, help="directory of the packages. Default: target/drills")
    parser.add_argument("--keep", action="store_true", help="keep the directory with logs and data")
    options = parser.parse_args()
    if not options.server:
        parser.error("--server or AUDIT_SERVER_BIN names the path of audit-server")
    if unknown := set(options.part) - {"kills", "cases"}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    options.server = os.path.realpath(options.server)
    options.tools = os.path.realpath(options.tools)
    return options


def enter_environment(tools):
    """Goes on with the interpreter of the virtual environment, which is made if it is not there."""
    folder = os.path.join(tools, "venv")
    if os.path.realpath(sys.prefix) == os.path.realpath(folder):
        return
    python = os.path.join(folder, "bin", "python")
    requirements = os.path.join(HERE, "requirements-destinations.txt")
    installed = os.path.join(folder, "requirements.txt")
    if not os.path.exists(installed) or open(installed, encoding="utf-8").read() != open(requirements, encoding="utf-8").read():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", requirements], check=True)
        shutil.copy(requirements, installed)
    os.execv(python, [python, *sys.argv])


def main():
    options = arguments()
    enter_environment(options.tools)
    # They need its packages.
    import destination_cases  # pylint: disable=import-outside-toplevel
    import destination_kills  # pylint: disable=import-outside-toplevel

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    failures = 0
    for name, part in (("kills", destination_kills.run), ("cases", destination_cases.run)):
        if name not in (options.part or ("kills", "cases")):
            continue
        folder = tempfile.mkdtemp(prefix="destinations-")
        # PostgreSQL runs as another user and must reach its directory.
        os.chmod(folder, 0o711)
        failed = part(options, folder)
        failures += failed
        if options.keep or failed:
            print(f"{name}: directory {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
