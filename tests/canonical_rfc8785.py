"""Canonical JSON by rfc8785 (PyPI): for each line of JSON on standard input, the line in its canonical form.

The tests of audit-domain compare it with their own. Integers beyond ±(2^53−1) are an addition of this project, which
rfc8785 refuses; the lines have none.
"""

import json
import sys

import rfc8785

# Neither side may translate line ends or guess encodings.
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(rfc8785.dumps(json.loads(line)) + b"\n")
