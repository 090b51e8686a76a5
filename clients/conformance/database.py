#!/usr/bin/env python3
"""A temporary PostgreSQL for the tests of a client. Prints its URL, and runs until its standard input ends.

Exits with 2 and the reason on standard error if the machine has no PostgreSQL.
"""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "deployment"))

import postgres
import processes


def main():
    try:
        processes.program("initdb")
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        # PostgreSQL runs as another user if this one is root.
        pathlib.Path(folder).chmod(0o755)
        server = postgres.Server(folder, "outbox")
        server.create()
        server.start()
        try:
            server.wait_ready()
            print(f"postgresql://{postgres.ROLE}@127.0.0.1:{server.port}/postgres", flush=True)
            sys.stdin.read()
        finally:
            server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
