"""docs/design/attacks.md: the text, and a table with a row for each attack."""

import datetime
import os
import re

from figures import percentiles

NOT_MEASURED = "–"
# For each database: quiet percentiles, those under attack, peak memory, number of attempts.
CELLS = 4
DATABASES = ("sqlite", "postgres")
HEADER = (
    "| Attack | Before | SQLite, quiet | attacked | MiB | Attempts | PostgreSQL, quiet | attacked | MiB | Attempts |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)
TEXT = """# Results of the attacks

What another organization gets while one does its worst: [tests/attacks](../../tests/attacks/README.md) says how it is measured, and
[limits.md](limits.md) what bounds each attack. `tests/attacks/run.py` writes this document:

```sh
{command}
```

The 99th percentiles are those of the victim's writes, receipts, reads, proofs and `/healthz` in milliseconds: of the slowest operation of
each group. *Before* is what the state before the bounds of [limits.md](limits.md) did, on SQLite, where it was bad. *Attempts* is the number
of the attempt whose figures are shown.
A cell that begins with `bad` names what the verdict found. `–` was not measured, or the attack is not one of that database.

{measured}

{table}
"""


def cells(result):
    """The cells of a result."""
    attacked = percentiles(result.attacked)
    if result.problems:
        attacked = f"**bad: {'; '.join(result.problems)}** {attacked}"
    memory = f"{result.memory[1]:,.0f}" if result.memory else NOT_MEASURED
    return [percentiles(result.quiet) if result.quiet else NOT_MEASURED, attacked, memory, str(result.attempt)]


def earlier(path):
    """The cells of the rows of a document that exists, by the name of the attack and the database; and what it says of measurements."""
    if not os.path.exists(path):
        return {}, {}
    with open(path, encoding="utf-8") as file:
        text = file.read()
    rows = {}
    for line in text.splitlines():
        found = re.match(r"^\| `([a-z-]+)` \|", line)
        row = [cell.strip() for cell in line.strip("|").split("|")]
        if found and len(row) == 2 + CELLS * len(DATABASES):
            for number, database in enumerate(DATABASES):
                rows[found[1], database] = row[2 + number * CELLS : 2 + (number + 1) * CELLS]
    measured = dict(re.findall(r"^- (SQLite|PostgreSQL): (.*)$", text, re.MULTILINE))
    return rows, measured


def machine():
    with open("/proc/meminfo", encoding="ascii") as file:
        kib = int(re.search(r"MemTotal:\s+(\d+)", file.read())[1])
    return f"{os.cpu_count()} processors, {kib / 1024 / 1024:.0f} GiB"


def command(options):
    parts = ["TMPDIR=/dev/shm tests/attacks/run.py --server target/release/audit-server --database both"]
    parts += [f"--seconds {options.seconds:g} --attempts {options.attempts}"]
    parts += ["--tls"] if options.tls else []
    parts += ["--self-audit off"] if options.self_audit == "off" else []
    return " ".join([*parts, "--markdown docs/design/attacks.md"])


def write(options, attacks, results):
    """Writes the document. `results` has lists by database; the rows of attacks that are not in them stay as they were."""
    rows, measured = earlier(options.markdown)
    titles = dict(zip(DATABASES, ("SQLite", "PostgreSQL")))
    for database, of_database in results.items():
        rows.update({(result.attack.name, database): cells(result) for result in of_database})
        today = datetime.date.today().isoformat()
        some = "" if len(of_database) == len(attacks) else f", in parts, the last one of {len(of_database)} attacks"
        measured[titles[database]] = (
            f"{today}, {machine()}, {options.seconds:g} s for each measurement, up to {options.attempts} attempts, TLS"
            f" {'on' if options.tls else 'off'}, the service's own events {options.self_audit}{some}"
        )
    lines = [HEADER]
    for attack in attacks:
        row = [f"`{attack.name}`", attack.before]
        for database in DATABASES:
            row += rows.get((attack.name, database), [NOT_MEASURED] * CELLS)
        lines.append(f"| {' | '.join(row)} |")
    text = TEXT.format(
        command=command(options),
        measured="\n".join(f"- {title}: {measured[title]}" for title in titles.values() if title in measured),
        table="\n".join(lines),
    )
    with open(options.markdown, "w", encoding="utf-8") as file:
        file.write(text)
