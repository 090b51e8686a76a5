"""When the client tries again."""

from typing import Optional

import pytest

from audit_client import ApiError, AuditError, ClientClosed, NetworkError, RetryPolicy
from audit_client._policy import ATTEMPTS_MAX, concerns_events, concerns_request, is_retryable, is_temporary
from audit_client._wire import retry_after


def response(status: int, after: Optional[float] = None) -> ApiError:
    return ApiError("scripted", status=status, code="of_the_service", retry_after=after)


@pytest.mark.parametrize(
    ("error", "retryable", "temporary", "of_events"),
    [
        (NetworkError("reset"), True, True, False),
        (response(500), True, True, False),
        (response(503, 1), True, True, False),
        (response(408), True, True, False),
        (response(429, 1), True, True, False),
        (response(429), False, True, False),
        (response(400), False, False, False),
        (ApiError("", status=400, code="validation_error", details=[{"field": "[0].action"}]), False, False, True),
        (ApiError("", status=400, code="validation_error", details=[{"field": "body"}]), False, False, True),
        (ApiError("", status=400, code="validation_error", details=[{"field": "environment"}]), False, False, False),
        (ApiError("", status=400, code="validation_error", details=[{}]), False, False, False),
        (ApiError("html", status=400, details=[{"field": "[0].action"}]), False, False, False),
        (response(401), False, False, False),
        (response(403), False, False, False),
        (response(404), False, False, False),
        (response(307), False, False, False),
        (response(409), False, False, True),
        (response(410), False, False, True),
        (response(413), False, False, True),
        # Without the code of the service: a proxy.
        (ApiError("html", status=400), False, False, False),
        (ApiError("html", status=410), False, False, False),
        (ApiError("html", status=413), False, False, True),
        (ApiError("of one event", code="conflict"), False, False, True),
        (ClientClosed("closed"), False, False, True),
    ],
)
def test_what_is_tried_again_now_or_later(error: AuditError, retryable: bool, temporary: bool, of_events: bool) -> None:
    assert is_retryable(error) is retryable
    assert is_temporary(error) is temporary
    assert concerns_events(error) is of_events


def test_waits_grow_and_differ() -> None:
    policy = RetryPolicy(backoff_seconds=1, backoff_seconds_max=8)
    for attempt, mean in ((1, 1), (2, 2), (3, 4), (4, 8), (5, 8), (10_000, 8)):
        waits = [policy.backoff(attempt) for _ in range(200)]
        assert mean * 0.5 <= min(waits) < max(waits) <= mean * 1.5
        assert len(set(waits)) > 100


def test_retry_after_is_a_lower_bound_up_to_its_limit() -> None:
    policy = RetryPolicy(backoff_seconds=0.001, retry_after_seconds_max=60)
    assert policy.wait_before_retry(1, response(503, 60)) == 60
    assert policy.wait_before_retry(1, response(503, 60.5)) is None
    assert policy.wait_before_retry(ATTEMPTS_MAX, response(503)) is None
    assert policy.told(response(429, 40_000)) == 60


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1", 1.0), ("0", 0.0), (" 2 ", 2.0), ("", None), ("soon", None), ("-1", None), ("nan", None), ("inf", None)],
)
def test_retry_after_is_read(text: str, seconds: Optional[float]) -> None:
    assert retry_after({"retry-after": text}) == seconds
    assert retry_after({}) is None


def test_which_errors_concern_the_request_and_not_its_events() -> None:
    assert concerns_request(response(413))
    assert concerns_request(ApiError("", status=400, details=[{"field": "body", "message": "broken"}]))
    assert not concerns_request(ApiError("", status=400, details=[{"field": "[0].action", "message": "Required"}]))
    assert not concerns_request(response(503))
    assert not concerns_request(NetworkError("reset"))
