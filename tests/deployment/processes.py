"""Child processes that end with this one, and the user that PostgreSQL runs as."""

import glob
import os
import pwd
import re
import shutil
import subprocess
import time

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def start(command, log, user=None, environment=None, end_signal="KILL"):
    """Starts a process whose output goes to the file `log`. It gets `end_signal` when this process dies, for which the main
    thread must have started it."""
    with open(log, "ab") as output:
        return subprocess.Popen(
            # It executes the command in its own process, so signals reach the command.
            ["setpriv", "--pdeathsig", end_signal, *command],
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            **identity(user),
        )


def run(command, user=None, environment=None):
    """Runs a command to its end and returns its standard output. Raises if it fails."""
    finished = subprocess.run(
        command, cwd="/", env=environment, capture_output=True, text=True, check=False, **identity(user)
    )
    if finished.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {finished.stderr.strip() or finished.stdout.strip()}")
    return finished.stdout


def identity(user):
    """The arguments of `subprocess` that change the user."""
    if user is None:
        return {}
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def database_user():
    """PostgreSQL refuses to run as root. None: the present user."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in names:
            return name
    raise RuntimeError("PostgreSQL refuses to run as root, and neither user postgres nor nobody exists")


def program(name):
    """The path of a PostgreSQL program, in the directory of the server: in PATH some are Debian's wrappers of all versions."""
    directories = glob.glob("/usr/lib/postgresql/*/bin")
    directories.sort(key=lambda path: int(path.split("/")[-2]), reverse=True)
    server = shutil.which("postgres")
    if server:
        directories.insert(0, os.path.dirname(os.path.realpath(server)))
    for directory in directories:
        path = os.path.join(directory, name)
        if os.path.exists(path):
            return path
    raise RuntimeError(f"{name} is not installed")


def wait_until(condition, seconds, what):
    """Polls until `condition` returns something true, and returns that. Raises after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds} s")
        time.sleep(0.02)


def times(pid):
    """When a process started, in seconds after the boot of the machine, and its processor time in seconds (proc(5))."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    used = sum(int(ticks) for ticks in fields[11:13])
    return int(fields[19]) / TICKS_PER_SECOND, used / TICKS_PER_SECOND


def memory_mib(pid):
    """Present and peak resident memory of a process. None when it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            text = status.read()
    except FileNotFoundError:
        return None
    found = [re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE) for name in ("VmRSS", "VmHWM")]
    return tuple(int(match[1]) / 1024 for match in found) if all(found) else None
