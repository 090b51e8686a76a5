"""What docs/examples/webhook-receiver/python needs of the package of this name, so that the walk needs no PyPI."""

import base64
import hashlib
import hmac
import json
import time

TOLERANCE_SECONDS = 300


class WebhookVerificationError(Exception):
    pass


class Webhook:
    def __init__(self, secret):
        self.key = base64.b64decode(secret.removeprefix("whsec_"))

    def verify(self, body, headers):
        timestamp = headers["webhook-timestamp"]
        if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
            raise WebhookVerificationError("Message timestamp too old")
        signed = f"{headers['webhook-id']}.{timestamp}.".encode() + body
        expected = "v1," + base64.b64encode(hmac.digest(self.key, signed, hashlib.sha256)).decode()
        if not any(hmac.compare_digest(expected, one) for one in headers["webhook-signature"].split()):
            raise WebhookVerificationError("No matching signature found")
        return json.loads(body)
