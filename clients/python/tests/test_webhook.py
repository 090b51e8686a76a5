"""Signatures of webhooks."""

import base64
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any, Dict

import pytest

from audit_client import VerificationError, verify_webhook
from audit_client.types import Alert, AlertRule, Erasure, ErasureEvent, LogReport, OutOfReach

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OTHER = "whsec_" + base64.b64encode(bytes(32)).decode()
NOW = 1_795_241_716
BODY = json.dumps({"type": "alert.fired", "data": {"id": "alt_1"}}).encode()


def headers(secret: str = SECRET, body: bytes = BODY, at: int = NOW) -> Dict[str, str]:
    key = base64.b64decode(secret[len("whsec_") :])
    signature = hmac.new(key, b"msg_1." + str(at).encode() + b"." + body, hashlib.sha256).digest()
    return {
        "Webhook-Id": "msg_1",
        "webhook-timestamp": str(at),
        "webhook-signature": "v1," + base64.b64encode(signature).decode(),
    }


def test_a_signed_message_is_accepted() -> None:
    assert verify_webhook(BODY, headers(), SECRET, now=NOW)["type"] == "alert.fired"
    assert verify_webhook(BODY.decode(), headers(), [OTHER, SECRET], now=NOW)["type"] == "alert.fired"


@pytest.mark.parametrize("type_of", [Alert, AlertRule, Erasure, ErasureEvent, LogReport, OutOfReach])
def test_the_types_have_all_fields_that_the_service_sends(type_of: Any) -> None:
    document = json.loads((Path(__file__).parents[3] / "docs" / "openapi.json").read_text(encoding="utf-8"))
    described = document["components"]["schemas"][type_of.__name__]
    assert type_of.__annotations__.keys() == described["properties"].keys() - {"request_id"}
    assert type_of.__required_keys__ == set(described["required"]) - {"request_id"}


def test_a_message_about_an_alert_has_the_fields_of_an_alert() -> None:
    document = json.loads((Path(__file__).parents[3] / "docs" / "openapi.json").read_text(encoding="utf-8"))
    message = document["components"]["pathItems"]["AlertFired"]["post"]["requestBody"]["content"]["application/json"]
    assert message["examples"]["example"]["value"]["data"].keys() == Alert.__annotations__.keys()


def test_one_of_several_signatures_suffices() -> None:
    both = {**headers(), "webhook-signature": headers(OTHER)["webhook-signature"] + " v1a,AAAA " + headers()["webhook-signature"]}
    assert verify_webhook(BODY, both, SECRET, now=NOW)


def test_the_published_example() -> None:
    # standard-webhooks/libraries, test of the Python library.
    secret, message_id, timestamp = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330
    body = '{"test": 2432232314}'
    signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    given = {"webhook-id": message_id, "webhook-timestamp": str(timestamp), "webhook-signature": signature}
    assert dict(verify_webhook(body, given, secret, now=timestamp)) == {"test": 2432232314}


@pytest.mark.parametrize(
    ("body", "change"),
    [
        (BODY + b" ", {}),
        (BODY, {"Webhook-Id": "msg_2"}),
        (BODY, {"webhook-timestamp": str(NOW + 1)}),
        (BODY, {"webhook-timestamp": "1e9"}),
        (BODY, {"webhook-timestamp": "\u0661\u0662"}),
        (BODY, {"webhook-signature": ""}),
        (BODY, {"webhook-signature": "v1,"}),
        (BODY, {"webhook-signature": "v1,!!!"}),
        (BODY, {"webhook-signature": headers()["webhook-signature"].replace("v1,", "v2,")}),
        (BODY, {"webhook-signature": headers(OTHER)["webhook-signature"]}),
    ],
)
def test_other_messages_are_refused(body: bytes, change: Dict[str, Any]) -> None:
    with pytest.raises(VerificationError):
        verify_webhook(body, {**headers(), **change}, SECRET, now=NOW)


def test_old_messages_and_missing_headers_are_refused() -> None:
    for at in (NOW - 301, NOW + 301):
        with pytest.raises(VerificationError, match="300 s"):
            verify_webhook(BODY, headers(at=at), SECRET, now=NOW)
    for name in headers():
        with pytest.raises(VerificationError, match=name.lower()):
            verify_webhook(BODY, {key: value for key, value in headers().items() if key != name}, SECRET, now=NOW)


def test_a_signed_body_that_is_no_object_is_refused() -> None:
    for body in (b"[]", b"{", b"\xff"):
        with pytest.raises(VerificationError, match="not"):
            verify_webhook(body, headers(body=body), SECRET, now=NOW)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_****************[REDACTED]", "whsec_c2hvcnQ="])
def test_a_secret_that_anybody_can_guess_is_a_fault_of_the_caller(secret: str) -> None:
    with pytest.raises(ValueError):
        verify_webhook(BODY, headers(), secret, now=NOW)
