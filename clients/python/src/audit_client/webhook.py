"""Verifies messages of webhooks: Standard Webhooks, version 1, with symmetric secrets."""

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Iterable, Mapping, Optional, Union, cast

from .errors import VerificationError
from .types import WebhookMessage

#: Seconds by which the time of a message may differ from the clock.
TOLERANCE_SECONDS = 300
SECRET_PREFIX = "whsec_"


def verify_webhook(
    body: Union[bytes, str],
    headers: Mapping[str, str],
    secret: Union[str, Iterable[str]],
    *,
    tolerance_seconds: float = TOLERANCE_SECONDS,
    now: Optional[float] = None,
) -> WebhookMessage:
    """The message of a webhook, or :class:`VerificationError`.

    ``body`` is the request's body as it came, before any parsing. ``headers`` are the request's, in any case. ``secret`` is
    the webhook's (``whsec_…``), or several of which one has to match. ``now`` are seconds since 1970, for tests.

    Its ``type`` says what ``data`` is: ``if message["type"] == "alert.fired"`` makes it an :class:`Alert` for type checkers.
    Ignore other types: the service adds types without a new version.

    A message can come more than once: drop those whose header ``webhook-id`` you have seen.
    """
    text = body.encode() if isinstance(body, str) else bytes(body)
    lower = {str(name).lower(): str(value) for name, value in headers.items()}
    try:
        message_id, timestamp, signatures = (lower[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
    except KeyError as error:
        raise VerificationError(f"the header {error} is missing") from None
    if not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > 15:
        raise VerificationError("the header webhook-timestamp is not a number")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance_seconds:
        raise VerificationError(f"the message is more than {tolerance_seconds:g} s old, or from the future")
    signed = f"{message_id}.{timestamp}.".encode() + text
    secrets = [secret] if isinstance(secret, str) else list(secret)
    expected = [hmac.new(key_of(one), signed, hashlib.sha256).digest() for one in secrets]
    given = [decoded(entry[len("v1,") :]) for entry in signatures.split(" ") if entry.startswith("v1,")]
    # All pairs are compared, so that the time does not depend on which one matches.
    matches = [hmac.compare_digest(one, other) for one in expected for other in given]
    if not any(matches):
        raise VerificationError("no signature of the message is valid")
    try:
        message = json.loads(text)
    except ValueError:
        raise VerificationError("the message is not JSON") from None
    if not isinstance(message, dict):
        raise VerificationError("the message is not a JSON object")
    return cast(WebhookMessage, message)


def key_of(secret: str) -> bytes:
    if not secret.startswith(SECRET_PREFIX):
        raise ValueError("a webhook's secret begins with whsec_")
    try:
        key = base64.b64decode(secret[len(SECRET_PREFIX) :], validate=True)
    except binascii.Error:
        key = b""
    if len(key) < 16:
        # An empty key would accept what anybody can sign. The text of a hidden secret in a list is such a case.
        raise ValueError("the secret is not complete; it is shown only when it is made")
    return key


def decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
