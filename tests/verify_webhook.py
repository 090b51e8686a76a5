"""Verifies webhook deliveries with the published library of Standard Webhooks.

Reads lines of JSON with `secret`, `headers` and `body` from standard input and prints a line for each: `ok`, or
`refused: ` and why. It ends with an error only when it cannot do its work at all.
"""

import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError


def verdict(delivery):
    try:
        Webhook(delivery["secret"]).verify(delivery["body"], delivery["headers"])
    except WebhookVerificationError as error:
        return f"refused: {error}"
    return "ok"


for line in sys.stdin:
    if line.strip():
        print(verdict(json.loads(line)))
