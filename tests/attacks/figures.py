"""Latencies of the victim: percentiles, and the counts of statuses."""

import itertools
import math
from collections import Counter

# The status that each operation expects.
EXPECTED = {
    "write": 201,
    "receipt": 201,
    "read": 200,
    "search": 200,
    "summary": 200,
    "feed": 200,
    "viewer": 200,
    "proof": 200,
    "completeness": 200,
    "healthz": 200,
    "own read": 200,
    "export": 200,
    "delivery": 201,
}
# What a customer does. A table has one figure for each group: that of its slowest operation.
GROUPS = {
    "writes": ("write",),
    "receipts": ("receipt",),
    "reads": ("read", "search", "summary", "feed", "viewer"),
    "proofs": ("proof", "completeness"),
    "healthz": ("healthz",),
}
OPERATIONS = tuple(itertools.chain(*GROUPS.values()))
# The status of a request without a response.
NO_RESPONSE = 0


class Figures:
    """Samples of one operation: milliseconds and statuses."""

    def __init__(self, operation):
        self.operation = operation
        self.milliseconds = []
        self.statuses = Counter()

    def add(self, seconds, status):
        self.milliseconds.append(seconds * 1000)
        self.statuses[status] += 1

    def percentile(self, share):
        """By nearest rank. None without samples."""
        ordered = sorted(self.milliseconds)
        return ordered[math.ceil(share * len(ordered)) - 1] if ordered else None

    def p99(self):
        return self.percentile(0.99)

    def worst(self):
        return max(self.milliseconds, default=None)

    def count(self, status):
        return self.statuses[status]

    def unexpected(self):
        """Counts of other statuses than the expected one."""
        return {status: count for status, count in self.statuses.items() if status != EXPECTED[self.operation]}

    def summary(self):
        return {
            "requests": len(self.milliseconds),
            "p50_ms": rounded(self.percentile(0.5)),
            "p99_ms": rounded(self.p99()),
            "worst_ms": rounded(self.worst()),
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
        }


def percentiles(figures):
    """The 99th percentiles of the groups, for a table. `figures` by operation."""
    return " / ".join(shown(max(figures[name].p99() for name in group)) for group in GROUPS.values())


def rounded(value):
    return None if value is None else round(value, 1)


def shown(value):
    """Milliseconds for the table: short, and with a fraction where that says something."""
    if value is None:
        return "–"
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"
