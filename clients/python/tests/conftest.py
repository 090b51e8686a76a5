import logging
import threading
from pathlib import Path
from typing import Any, Dict, Iterator, cast

import django
import pytest
from audit_server import AuditServer
from django.conf import settings

from audit_client import Client, EventInput


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AuditServer]:
    """One server for all tests that do not stop it. Each test uses a tenant of its own."""
    server = AuditServer(tmp_path_factory.mktemp("server")).start()
    yield server
    server.stop()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[AuditServer]:
    """A server for one test."""
    server = AuditServer(tmp_path).start()
    yield server
    server.stop()


@pytest.fixture
def tenant(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)[:200]


@pytest.fixture
def audit(server: AuditServer) -> Iterator[Client]:
    with Client(server.base_url, server.project_key) as client:
        yield client


@pytest.fixture
def master(server: AuditServer) -> Iterator[Client]:
    with Client(server.base_url, server.master_key, project_id=server.project_id) as client:
        yield client


@pytest.fixture(scope="session")
def django_project() -> None:
    """A project without settings of its own; a test overrides them."""
    settings.configure(ALLOWED_HOSTS=["testserver"], SECRET_KEY="test")
    django.setup()


class Warned(logging.Handler):
    """Signals the first warning."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.message = ""
        self.event = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.message = record.getMessage()
        self.event.set()


def event(tenant: str, **fields: Any) -> EventInput:
    made: Dict[str, Any] = {
        "action": "invoice.updated",
        "category": "mutation",
        "tenant_id": tenant,
        "actor": {"id": "user_1", "type": "user", "name": "Jane"},
        **fields,
    }
    return cast(EventInput, made)
