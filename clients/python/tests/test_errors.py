"""What an application's log says when the service cannot be reached, or something else responds."""

import http.server
import threading
from typing import Iterator

import pytest

from audit_client import ApiError, Client, EventsRemoved, NetworkError, RetryPolicy
from audit_client._wire import error_of

QUICK = RetryPolicy(backoff_seconds=0.001)
TOKEN = "6f2b0f0e-3f0e-4c7e-9d0a-0d1f7f6f5a11"


class Page(http.server.BaseHTTPRequestHandler):
    """A page of a proxy, with the status in the first step of the path."""

    def do_GET(self) -> None:
        text = b"<html>Please sign in</html>"
        self.send_response(int(self.path.split("/")[1]))
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def proxy() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_an_error_names_the_address_and_no_secret() -> None:
    with Client("http://127.0.0.1:9", "pk_test", retry=QUICK) as audit:
        with pytest.raises(NetworkError, match=r"^no response of http://127\.0\.0\.1:9: ConnectError"):
            audit.log.key()
        with pytest.raises(NetworkError) as caught:
            audit.streams.info(TOKEN)
        assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(("status", "kind"), [(200, NetworkError), (407, ApiError)])
def test_the_page_of_a_proxy_is_named_as_such(proxy: str, status: int, kind: type) -> None:
    with Client(f"{proxy}/{status}", "pk_test", retry=QUICK) as audit:
        with pytest.raises(kind, match="perhaps of a proxy"):
            audit.events.get("evt_1")


def test_removed_events_are_an_error_with_the_cursor_to_continue_with() -> None:
    body = b'{"error": {"code": "events_removed", "message": "m", "cursor": "c2"}, "request_id": "r"}'
    error = error_of(410, {}, body)
    assert isinstance(error, EventsRemoved)
    assert (error.cursor, error.status, error.code) == ("c2", 410, "events_removed")
    assert not isinstance(error_of(410, {}, body.replace(b'"c2"', b"null")), EventsRemoved)
