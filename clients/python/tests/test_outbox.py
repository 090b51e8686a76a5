"""The outbox: an event exists exactly when the transaction commits, and the service stores it once."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional

import psycopg
import pytest
import sqlalchemy
from audit_server import AuditServer
from conftest import event
from sqlalchemy.orm import Session

from audit_client import ApiError, Client, NetworkError, RetryPolicy, outbox
from audit_client.outbox import sqlalchemy as sqlalchemy_outbox

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs" / "outbox.md").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Optional[str]]:
    """The URL of a temporary cluster; none if the machine has no PostgreSQL."""
    command = [sys.executable, str(ROOT / "clients" / "conformance" / "database.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        yield process.stdout.readline().strip() or None
        process.stdin.close()
        assert process.wait(60) in (0, 2)


class Database:
    """A database with the table, and one of the application."""

    def __init__(self, url: str, connect: Callable[[], Any], schema: str) -> None:
        self.url, self.connect = url, connect
        self.is_postgres = schema == outbox.POSTGRESQL
        for statement in (schema + "CREATE TABLE invoices (id INTEGER)").split(";"):
            self.run(statement)

    def run(self, statement: str) -> List[Any]:
        with closing(self.connect()) as connection:
            cursor = connection.execute(statement)
            rows: List[Any] = cursor.fetchall() if cursor.description else []
            connection.commit()
            return rows

    def record(self, *events: Any) -> None:
        with closing(self.connect()) as connection:
            for one in events:
                outbox.record(connection, one)
            connection.commit()

    def waiting(self) -> int:
        return int(self.run("SELECT count(*) FROM audit_outbox WHERE error IS NULL")[0][0])

    def errors(self) -> List[str]:
        return [row[0] for row in self.run("SELECT error FROM audit_outbox WHERE error IS NOT NULL ORDER BY id")]


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path, postgres: Optional[str]) -> Database:
    if request.param == "sqlite":
        path = tmp_path / "shop.db"
        return Database(f"sqlite:///{path}", lambda: sqlite3.connect(path), outbox.SQLITE)
    return postgres_database(postgres)


def postgres_database(url: Optional[str]) -> Database:
    if url is None:
        assert "AUDIT_TEST_REQUIRE_POSTGRES" not in os.environ, "PostgreSQL (initdb) is not installed"
        pytest.skip("PostgreSQL (initdb) is not installed")
    with psycopg.connect(url) as connection:
        connection.execute("DROP TABLE IF EXISTS audit_outbox, invoices")
    return Database(url.replace("postgresql:", "postgresql+psycopg:"), lambda: psycopg.connect(url), outbox.POSTGRESQL)


def numbered(tenant: str, numbers: range) -> List[Any]:
    return [event(tenant, metadata={"n": number}) for number in numbers]


def numbers(audit: Client, tenant: str) -> List[int]:
    """The numbers of the stored events of a tenant, in the order in which they were stored."""
    pages = audit.events.feed(follow=False, tenant_id=tenant)
    return [one["metadata"]["n"] for page in pages for one in page["events"]]


def test_the_document_has_the_tables() -> None:
    assert outbox.POSTGRESQL in DOCUMENT and outbox.SQLITE in DOCUMENT and outbox.OLDEST in DOCUMENT


def test_the_example_of_the_document_runs_as_written(own_server: AuditServer, tmp_path: Path) -> None:
    match = re.search(r"```python\n(.*?)```\n\nIt prints\n\n```text\n(.*?)```", DOCUMENT, re.DOTALL)
    assert match is not None
    environment = {**os.environ, "AUDIT_URL": own_server.base_url, "AUDIT_KEY": own_server.project_key}
    printed = subprocess.check_output([sys.executable, "-c", match[1]], env=environment, cwd=tmp_path, text=True)
    assert printed == match[2]


def test_a_commit_stores_the_event_once_and_a_rollback_none(database: Database, audit: Client, tenant: str) -> None:
    first, second = numbered(tenant, range(2))
    with closing(database.connect()) as connection:
        connection.execute("INSERT INTO invoices VALUES (1)")
        outbox.record(connection, first)
        connection.rollback()
        connection.execute("INSERT INTO invoices VALUES (2)")
        outbox.record(connection, second)
        connection.commit()
    relay = outbox.Relay(audit, database.connect)
    assert relay.run_once() == outbox.Relayed(stored=1, refused=0)
    assert relay.run_once() == outbox.Relayed(stored=0, refused=0)
    assert numbers(audit, tenant) == [1] and [tuple(row) for row in database.run("SELECT id FROM invoices")] == [(2,)]


class KilledRelay(outbox.Relay):
    """Dies when the service has acknowledged the events: nothing after it runs, as after SIGKILL."""

    def settle(self, connection: outbox.Connection, marker: str, ids: List[int], outcomes: List[Any]) -> outbox.Relayed:
        raise KeyboardInterrupt


def test_a_relay_killed_between_acknowledgement_and_deletion_stores_nothing_twice(
    database: Database, audit: Client, tenant: str
) -> None:
    database.record(*numbered(tenant, range(3)))
    with pytest.raises(KeyboardInterrupt):
        KilledRelay(audit, database.connect).run_once()
    assert numbers(audit, tenant) == [0, 1, 2] and database.waiting() == 3
    assert outbox.Relay(audit, database.connect).run_once().stored == 3
    assert numbers(audit, tenant) == [0, 1, 2] and database.waiting() == 0


def test_refused_events_are_set_aside_and_those_behind_them_are_stored(
    database: Database, audit: Client, tenant: str, caplog: pytest.LogCaptureFixture
) -> None:
    database.record(*numbered(tenant, range(1)))
    # The client refuses it now; an older version has recorded it.
    long = event(tenant, actor={"id": "user_1", "type": "user", "name": "x" * 513}, idempotency_key=f"long {tenant}")
    database.run(f"INSERT INTO audit_outbox (tenant_id, idempotency_key, event) VALUES ('t', 'long', '{json.dumps(long)}')")
    database.record(event(tenant, metadata={"a\0b": "\0"}), *numbered(tenant, range(1, 2)))
    # Makes the request unreadable.
    database.run("INSERT INTO audit_outbox (tenant_id, idempotency_key, event) VALUES ('t', 'k', 'not JSON')")
    database.record(*numbered(tenant, range(2, 4)))
    relay = outbox.Relay(audit, database.connect)
    assert relay.run_once() == outbox.Relayed(stored=4, refused=3)
    assert numbers(audit, tenant) == [0, 1, 2, 3] and database.waiting() == 0
    name, nul, unreadable = database.errors()
    assert "actor.name" in name and "NUL" in nul.upper() and "JSON" in unreadable
    assert sum("is set aside" in record.message for record in caplog.records) == 3
    database.run("UPDATE audit_outbox SET event = replace(event, 'xxx', ''), error = NULL WHERE error LIKE '%actor.name%'")
    assert relay.run_once().stored == 1


def test_rows_that_are_not_exactly_one_object_are_set_aside_and_do_not_stop_the_relay(
    database: Database, audit: Client, tenant: str
) -> None:
    first, second = (outbox.row_of(one).event for one in numbered(tenant, range(7, 9)))
    wrong = [f"{first},{second}", f"[{first}]", "null", "", first[1:], f"{first} {second}", "[" * 100_000]
    database.record(*numbered(tenant, range(1)))
    for text in wrong:
        database.run(f"INSERT INTO audit_outbox (tenant_id, idempotency_key, event) VALUES ('t', 'k', '{text}')")
    database.record(*numbered(tenant, range(1, 2)))
    assert outbox.Relay(audit, database.connect).run_once() == outbox.Relayed(stored=2, refused=len(wrong))
    assert numbers(audit, tenant) == [0, 1] and database.waiting() == 0
    assert all("must be exactly one JSON object" in error for error in database.errors())


def test_a_paramstyle_that_is_not_known_is_an_error_before_anything_is_sent(tmp_path: Path, audit: Client, tenant: str) -> None:
    path = tmp_path / "shop.db"
    database = Database(f"sqlite:///{path}", lambda: sqlite3.connect(path), outbox.SQLITE)
    database.record(*numbered(tenant, range(1)))
    with pytest.raises(ValueError, match="paramstyle must be qmark, format or pyformat, not 'named'"):
        outbox.Relay(audit, database.connect, paramstyle="named").run_once()
    assert numbers(audit, tenant) == [] and database.waiting() == 1


def test_relays_at_the_same_time_keep_the_order_and_store_nothing_twice(
    database: Database, server: AuditServer, audit: Client, tenant: str
) -> None:
    database.record(*numbered(tenant, range(450)))
    failures: List[BaseException] = []

    def drain() -> None:
        try:
            with Client(server.base_url, server.project_key) as own:
                relay = outbox.Relay(own, database.connect)
                while relay.run_once().stored:
                    pass
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=drain) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and database.waiting() == 0
    assert numbers(audit, tenant) == list(range(450))


def test_a_lower_id_that_is_committed_later_is_not_skipped(postgres: Optional[str], audit: Client, tenant: str) -> None:
    database = postgres_database(postgres)
    late, early = numbered(tenant, range(2))
    relay = outbox.Relay(audit, database.connect)
    with closing(database.connect()) as connection:
        outbox.record(connection, late)
        database.record(early)
        assert relay.run_once().stored == 1
        connection.commit()
    assert relay.run_once().stored == 1
    assert numbers(audit, tenant) == [1, 0] and database.waiting() == 0


class Stop(threading.Event):
    """Calls a function in place of each wait."""

    def __init__(self, on_wait: Callable[["Stop"], object]) -> None:
        super().__init__()
        self.on_wait = on_wait

    def wait(self, timeout: Optional[float] = None) -> bool:
        self.on_wait(self)
        return self.is_set()


def test_an_outage_keeps_the_rows_until_the_service_is_back(database: Database, own_server: AuditServer, tenant: str) -> None:
    database.record(*numbered(tenant, range(250)))
    own_server.kill()
    waits: List[int] = []

    def on_wait(stop: Stop) -> None:
        waits.append(database.waiting())
        if len(waits) == 4:
            # The outage lasts longer than the three attempts of one request.
            own_server.start()
        elif not waits[-1]:
            stop.set()

    with Client(own_server.base_url, own_server.project_key, retry=RetryPolicy(backoff_seconds=0)) as audit:
        with pytest.raises(NetworkError):
            outbox.Relay(audit, database.connect).run_once()
        outbox.Relay(audit, database.connect).run(Stop(on_wait))
        assert numbers(audit, tenant) == list(range(250))
    assert waits == [250, 250, 250, 250, 0]


def test_an_outage_of_the_database_does_not_end_the_relay(
    database: Database, audit: Client, tenant: str, caplog: pytest.LogCaptureFixture
) -> None:
    database.record(*numbered(tenant, range(1)))
    attempts: List[int] = []

    def connect() -> Any:
        attempts.append(1)
        if len(attempts) < 3:
            raise OSError("the database is away")
        return database.connect()

    outbox.Relay(audit, connect).run(Stop(lambda stop: stop.set() if len(attempts) == 3 else None))
    assert numbers(audit, tenant) == [0]
    assert [record.message for record in caplog.records if "OSError: the database is away" in record.message] and len(attempts) == 3


def test_rows_wait_while_the_key_is_refused(database: Database, server: AuditServer, tenant: str) -> None:
    database.record(*numbered(tenant, range(1)))
    with Client(server.base_url, "pk_live_wrong") as refused:
        with pytest.raises(ApiError, match="401"):
            outbox.Relay(refused, database.connect).run_once()
    assert database.waiting() == 1 and not database.errors()


def test_an_event_is_checked_and_fixed_by_the_caller(database: Database, tenant: str) -> None:
    with closing(database.connect()) as connection:
        invalid: List[Any] = [event(tenant, action="Bad"), event(""), event(tenant, metadata={"n": float("nan")}), {}, []]
        for wrong in invalid:
            with pytest.raises((TypeError, ValueError)):
                outbox.record(connection, wrong)
        with pytest.raises(ValueError, match="paramstyle must be qmark, format or pyformat, not None"):
            outbox.record(object(), event(tenant))
    assert database.waiting() == 0
    row = outbox.row_of(event(tenant))
    assert row.tenant_id == tenant and row.idempotency_key in row.event and "occurred_at" in row.event
    assert "occurred_at" not in outbox.row_of(event(tenant, idempotency_key="job-1")).event


def test_sqlalchemy_records_in_its_session(database: Database, audit: Client, tenant: str) -> None:
    engine = sqlalchemy.create_engine(database.url)
    first, second, third = numbered(tenant, range(3))
    with Session(engine) as session:
        sqlalchemy_outbox.record(session, first)
        session.rollback()
        sqlalchemy_outbox.record(session, second)
        session.commit()
    with engine.begin() as connection:
        sqlalchemy_outbox.record(connection, third)
    relay = sqlalchemy_outbox.relay(audit, engine)
    assert relay.run_once().stored == 2
    database.run("INSERT INTO audit_outbox (tenant_id, idempotency_key, event) VALUES ('t', 'k', '{}')")
    assert relay.run_once().refused == 1 and len(database.errors()) == 1
    engine.dispose()
    assert numbers(audit, tenant) == [1, 2]


#: In a process of its own, because Django is configured once.
DJANGO = """
import json, os, sys
import django
from django.conf import settings
from django.db import connection, transaction
from audit_client import Client, outbox
from audit_client.outbox import django as django_outbox

settings.configure(DATABASES={"default": json.loads(os.environ["DATABASE"])})
django.setup()
event = json.loads(os.environ["EVENT"])
try:
    django_outbox.record(event)
except transaction.TransactionManagementError as error:
    print(error)
try:
    with transaction.atomic():
        django_outbox.record({**event, "metadata": {"n": 0}})
        raise KeyError
except KeyError:
    pass
with transaction.atomic():
    django_outbox.record({**event, "metadata": {"n": 1}})
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO audit_outbox (tenant_id, idempotency_key, event) VALUES ('t', 'k', '{}')")
with Client(os.environ["AUDIT_URL"], os.environ["AUDIT_KEY"]) as audit:
    print(django_outbox.relay(audit).run_once())
"""


def test_django_records_within_atomic(database: Database, server: AuditServer, audit: Client, tenant: str) -> None:
    settings: Dict[str, Any] = {"ENGINE": "django.db.backends.sqlite3", "NAME": database.url[len("sqlite:///") :]}
    if database.is_postgres:
        url = sqlalchemy.make_url(database.url)
        settings = {"ENGINE": "django.db.backends.postgresql", "NAME": url.database, "USER": url.username}
        settings.update(HOST=url.host, PORT=url.port)
    variables = {"AUDIT_URL": server.base_url, "AUDIT_KEY": server.project_key}
    environment = {**os.environ, **variables, "DATABASE": json.dumps(settings), "EVENT": json.dumps(event(tenant))}
    printed = subprocess.check_output([sys.executable, "-c", DJANGO], env=environment, text=True)
    refusal, relayed = printed.splitlines()
    assert "within transaction.atomic()" in refusal and relayed == "Relayed(stored=1, refused=1, has_more=False)"
    assert numbers(audit, tenant) == [1] and len(database.errors()) == 1
