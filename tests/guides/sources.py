"""Tables and exports of other audit logs for tests/guides/coming_from, and the events that they become.

Structures are those of the versions that docs/coming-from.md names. Rows have what real ones have: nulls, Unicode, odd names, large values.
"""

import dataclasses
import hashlib
import json
import subprocess
import textwrap

import processes

LARGE = "x" * 5000


@dataclasses.dataclass
class Case:
    """The expected members of each event of a source by idempotency key, the number of lines that are refused, and the statements that
    create the tables."""

    events: dict
    rejected: int = 0
    tables: str = ""


def psql(url, statements):
    subprocess.run([processes.program("psql"), "-qXAt", "-v", "ON_ERROR_STOP=1", url], input=statements, text=True, check=True,
                   stdout=subprocess.DEVNULL)


def change(field, before=None, after=None):
    return {"field": field, "before": before, "after": after}


TRIGGERS = """
CREATE EXTENSION hstore;
CREATE SCHEMA audit;
CREATE TABLE audit.logged_actions (
    event_id bigserial PRIMARY KEY, schema_name text NOT NULL, table_name text NOT NULL, relid oid NOT NULL, session_user_name text,
    action_tstamp_tx timestamptz NOT NULL, action_tstamp_stm timestamptz NOT NULL, action_tstamp_clk timestamptz NOT NULL,
    transaction_id bigint, application_name text, client_addr inet, client_port integer, client_query text,
    action text NOT NULL CHECK (action IN ('I', 'D', 'U', 'T')), row_data hstore, changed_fields hstore, statement_only boolean NOT NULL);
CREATE FUNCTION row_of(names text, action text, old hstore, new hstore, at text, who text DEFAULT 'shop', address inet DEFAULT '203.0.113.7')
RETURNS void LANGUAGE sql AS $$
    INSERT INTO audit.logged_actions (schema_name, table_name, relid, session_user_name, action_tstamp_tx, action_tstamp_stm,
        action_tstamp_clk, transaction_id, application_name, client_addr, client_query, action, row_data, changed_fields, statement_only)
    VALUES ('public', names, 16384, who, '2001-01-01Z', '2001-01-01Z', at::timestamptz, 4711, 'rails', address, 'UPDATE …', action, old, new,
        old IS NULL) $$;
SELECT row_of('invoices', 'I', 'id=>1, tenant_id=>acme, note=>NULL, title=>"Grüße \\"a\\", 日本\\\\ 🦀"', NULL, '2024-03-31 02:30:00.123456+02');
SELECT row_of('invoices', 'U', 'id=>1, tenant_id=>acme, note=>NULL, title=>a, kept=>k', 'title=>b, note=>"jane@example.com"', '2024-03-31 01:00:00Z');
SELECT row_of('invoices', 'D', 'id=>1, tenant_id=>acme, title=>b', NULL, '2024-04-01 00:00:00Z', NULL, NULL);
SELECT row_of('2FA Tokens', 'I', hstore(ARRAY['user', 'seed'], ARRAY['7', repeat('x', 5000)]), NULL, '2024-04-02 00:00:00Z', '');
SELECT row_of('invoices', 'T', NULL, NULL, '2024-04-03 00:00:00Z');
SELECT row_of('wide', 'I', (SELECT hstore(array_agg('c' || n), array_agg(repeat('y', 3000))) FROM generate_series(1, 250) AS n),
    NULL, '2024-04-04 00:00:00Z');
SELECT row_of('long', 'U', 'id=>""', NULL, '2024-04-05 00:00:00Z');
SELECT row_of('long', 'D', hstore('id', repeat('z', 300)), NULL, '2024-04-06 00:00:00Z');
"""


# A copy of the trigger that stores jsonb.
TRIGGERS_JSONB = """
DROP TABLE audit.logged_actions CASCADE;
CREATE TABLE audit.logged_actions (
    event_id bigint PRIMARY KEY, schema_name text NOT NULL, table_name text NOT NULL, session_user_name text,
    action_tstamp_clk timestamptz NOT NULL, transaction_id bigint, application_name text, client_addr inet, action text NOT NULL,
    row_data jsonb, changed_fields jsonb);
INSERT INTO audit.logged_actions VALUES (101, 'billing', 'invoices', 'shop', '2024-03-31Z', NULL, NULL, NULL, 'U',
    '{"id": 5, "n": null, "tags": ["a"]}', '{"tags": ["b"]}');
"""


def triggers():
    role, rails = {"id": "shop", "type": "service"}, {"application_name": "rails", "transaction_id": 4711}
    events = [
        {"action": "invoices.created", "category": "mutation", "tenant_id": "acme", "actor": role, "occurred_at": "2024-03-31T00:30:00.123Z",
         "target": {"id": "1", "type": "public.invoices"}, "context": {"ip_address": "203.0.113.7"}, "metadata": rails,
         "changes": [change("id", None, "1"), change("note"), change("title", None, 'Grüße "a", 日本\\ 🦀'), change("tenant_id", None, "acme")]},
        {"action": "invoices.updated", "changes": [change("note", None, "[REDACTED]"), change("title", "a", "b")], "redacted": True},
        {"action": "invoices.deleted", "actor": {"id": "unknown", "type": "system"}, "context": None,
         "changes": [change("id", "1"), change("title", "b"), change("tenant_id", "acme")]},
        {"action": "x2fa_tokens.created", "tenant_id": "main", "actor": {"id": "unknown", "type": "system"}, "target": None,
         "changes": [change("seed", None, LARGE[:2000]), change("user", None, "7")]},
        {"action": "invoices.truncated", "changes": None, "target": None},
        {"action": "wide.created", "changes": None, "metadata": {"import": "changes and metadata left out: too large"}},
        {"action": "long.updated", "changes": None, "target": None},
        {"action": "long.deleted", "target": {"id": "z" * 256}, "changes": [change("id", "z" * 300)]},
    ]
    of_jsonb = {"action": "invoices.updated", "target": {"id": "5", "type": "billing.invoices"}, "changes": [change("tags", ["a"], ["b"])]}
    return [Case({f"logged_actions-{number}": event for number, event in enumerate(events, 1)}, tables=TRIGGERS),
            Case({"logged_actions-101": of_jsonb}, tables=TRIGGERS_JSONB)]


# A table that was created without changes, and got them as text; in parts JSON, in parts YAML.
VERSIONS = """
CREATE TABLE versions (id bigserial PRIMARY KEY, whodunnit varchar, created_at timestamp(6), item_id bigint NOT NULL,
    item_type varchar NOT NULL, event varchar NOT NULL, object text, object_changes text, ip varchar);
INSERT INTO versions (whodunnit, created_at, item_id, item_type, event, object, object_changes, ip) VALUES
    ('42', '2024-03-31 01:30:00.5', 7, 'Billing::CreditNote', 'create', NULL,
        '{"title": [null, "Grüße 日本 🦀"], "paid": [false, true], "total": [null, 12.5]}', '203.0.113.7'),
    (NULL, '2024-04-01', 7, 'Billing::CreditNote', 'update', '{"a": 1}', '{"data": [{"a": null}, {"a": [1, 12345678901234567890.5]}]}', NULL),
    ('', '2024-04-02', 8, 'User', 'destroy', E'---\\nname: Jane\\n', E'---\\nname:\\n- Jane\\n- \\n', NULL),
    ('jane@example.com', '2024-04-03', 9, 'User', 'password reset', NULL, NULL, NULL),
    ('42', NULL, 9, 'User', 'update', NULL, json_build_object('bio', json_build_array(NULL, repeat('x', 5000)))::text, NULL);
"""


# The columns that its documentation recommends, and those of its generator without options.
VERSIONS_JSONB = """
DROP TABLE versions;
CREATE TABLE versions (id uuid PRIMARY KEY, whodunnit bigint, created_at timestamptz, item_id varchar NOT NULL, item_type varchar NOT NULL,
    event varchar NOT NULL, object jsonb, object_changes jsonb, tenant_id integer);
INSERT INTO versions VALUES ('6f0a1c52-9f60-4b0c-8f0f-0c2f5d2f7a01', 42, '2024-03-31 02:30:00+02', 'c0ffee', 'User', 'update', '{"name": "a"}',
    '{"name": ["a", "b"]}', 3);
"""
VERSIONS_WITHOUT_CHANGES = """
DROP TABLE versions;
CREATE TABLE versions (id bigint PRIMARY KEY, whodunnit varchar, created_at timestamp(6), item_id bigint NOT NULL, item_type varchar NOT NULL,
    event varchar NOT NULL, object text);
INSERT INTO versions VALUES (101, '42', '2024-03-31 00:30:00', 1, 'User', 'update', E'---\nname: a\n');
"""


def versions():
    nobody = {"id": "unknown", "type": "system"}
    events = [
        {"action": "billing.credit_note.created", "tenant_id": "main", "actor": {"id": "42", "type": "user"},
         "metadata": {"object": None, "object_changes": None}, "target": {"id": "7", "type": "Billing::CreditNote"},
         "context": {"ip_address": "203.0.113.7"}, "occurred_at": "2024-03-31T01:30:00.500Z",
         "changes": [change("paid", False, True), change("title", None, "Grüße 日本 🦀"), change("total", None, 12.5)]},
        {"action": "billing.credit_note.updated", "actor": nobody, "metadata": {}, "occurred_at": "2024-04-01T00:00:00.000Z",
         "changes": [change("data", {"a": None}, {"a": [1, 12345678901234567890.5]})]},
        {"action": "user.deleted", "actor": nobody, "changes": None,
         "metadata": {"object": "---\nname: Jane\n", "object_changes": "---\nname:\n- Jane\n- \n"}},
        {"action": "user.password_reset", "actor": {"type": "user"}, "redacted": True, "changes": None},
        {"action": "user.updated", "changes": [change("bio", None, LARGE[:2000])]},
    ]
    found = {f"versions-{number}": event for number, event in enumerate(events, 1)}
    # The number that a double does not keep is refused, with its line.
    del found["versions-2"]
    of_jsonb = {"action": "user.updated", "tenant_id": "3", "actor": {"id": "42", "type": "user"}, "target": {"id": "c0ffee", "type": "User"},
                "occurred_at": "2024-03-31T00:30:00.000Z", "changes": [change("name", "a", "b")], "metadata": {"object": None}}
    without_changes = {"changes": None, "occurred_at": "2024-03-31T00:30:00.000Z", "metadata": {"object": "---\nname: a\n"}}
    return [Case(found, rejected=1, tables=VERSIONS),
            Case({"versions-6f0a1c52-9f60-4b0c-8f0f-0c2f5d2f7a01": of_jsonb}, tables=VERSIONS_JSONB),
            Case({"versions-101": without_changes}, tables=VERSIONS_WITHOUT_CHANGES)]


DJANGO = """
CREATE TABLE django_content_type (id serial PRIMARY KEY, app_label varchar(100) NOT NULL, model varchar(100) NOT NULL);
INSERT INTO django_content_type (app_label, model) VALUES ('billing', 'invoice'), ('auth', 'user');
CREATE TABLE auditlog_logentry (id serial PRIMARY KEY, object_pk varchar(255) NOT NULL, object_id bigint, object_repr text NOT NULL,
    action smallint NOT NULL, changes_text text NOT NULL DEFAULT '', changes jsonb, timestamp timestamptz NOT NULL, actor_id integer,
    content_type_id integer NOT NULL, remote_addr inet, remote_port integer, additional_data jsonb, serialized_data jsonb, cid varchar(255),
    actor_email varchar(254));
INSERT INTO auditlog_logentry (object_pk, object_repr, action, changes_text, changes, timestamp, actor_id, content_type_id, remote_addr,
    additional_data, cid, actor_email) VALUES
    ('1', 'Rechnung Nr. 1 – 日本', 0, '', '{"title": ["None", "Grüße 🦀"]}', '2024-03-31 02:30:00.123456+02', 5, 1, '203.0.113.7',
        '{"tenant_id": "acme", "note": null}', 'req-1', NULL),
    ('1', 'Rechnung', 1, '', '{"tags": {"type": "m2m", "operation": "add", "objects": ["a", "b"]}}', '2024-04-01Z', NULL, 1, NULL, NULL, NULL,
        'jane@example.com'),
    ('1', 'Rechnung', 1, '', '{"tags": {"type": "m2m", "operation": "delete", "objects": ["a"]}}', '2024-04-02Z', NULL, 1, NULL, NULL, NULL, ''),
    ('a2d3', repeat('r', 600), 2, '{"title": ["Old", "None"], "n": [1, 2]}', NULL, '2024-04-03Z', 5, 1, '2001:db8::1', NULL, NULL, NULL),
    ('', 'jane', 3, '', 'null', '2024-04-04Z', 5, 2, NULL, '["a list"]', '', NULL),
    ('9', 'large', 1, '', jsonb_build_object('bio', jsonb_build_array('a', repeat('x', 5000)), 'n', '[null, 12345678901234567890.5]'::jsonb),
        '2024-04-05Z', 5, 2, NULL, NULL, NULL, NULL);
"""


# Version 2: changes are text, and columns of later versions are missing.
DJANGO_2 = """
DROP TABLE auditlog_logentry;
CREATE TABLE auditlog_logentry (id serial PRIMARY KEY, object_pk varchar(255) NOT NULL, object_id bigint, object_repr text NOT NULL,
    action smallint NOT NULL, changes text NOT NULL, timestamp timestamptz NOT NULL, actor_id integer, content_type_id integer NOT NULL,
    remote_addr inet, additional_data jsonb);
INSERT INTO auditlog_logentry VALUES (101, '1', 1, 'Rechnung', 1, '{"title": ["a", "b"]}', '2024-04-01Z', 5, 1, NULL, NULL),
    (102, '1', 1, 'Rechnung', 2, '', '2024-04-01Z', 5, 1, NULL, NULL);
"""


def django():
    user = {"id": "5", "type": "user"}
    events = [
        {"action": "billing.invoice.created", "category": "mutation", "tenant_id": "acme", "actor": user, "context": {"ip_address": "203.0.113.7"},
         "target": {"id": "1", "type": "billing.invoice", "name": "Rechnung Nr. 1 – 日本"}, "occurred_at": "2024-03-31T00:30:00.123Z",
         "changes": [change("title", "None", "Grüße 🦀")], "metadata": {"cid": "req-1", "additional_data": {"tenant_id": "acme"}}},
        {"action": "billing.invoice.updated", "tenant_id": "main", "actor": {"type": "user", "email": "[REDACTED]"}, "redacted": True,
         "changes": [change("tags", None, ["a", "b"])]},
        {"actor": {"id": "unknown", "type": "system"}, "changes": [change("tags", ["a"])]},
        {"action": "billing.invoice.deleted", "target": {"name": "r" * 512}, "context": {"ip_address": "2001:db8::1"},
         "changes": [change("n", 1, 2), change("title", "Old", "None")]},
        {"action": "auth.user.accessed", "category": "access", "target": {"id": "unknown"}, "changes": None,
         "metadata": {"additional_data": ["a list"]}},
        {"changes": [change("n", None, "12345678901234567890.5"), change("bio", "a", LARGE[:2000])]},
    ]
    of_text = {"auditlog-101": {"actor": user, "changes": [change("title", "a", "b")]},
               "auditlog-102": {"action": "billing.invoice.deleted", "changes": None}}
    return [Case({f"auditlog-{number}": event for number, event in enumerate(events, 1)}, tables=DJANGO), Case(of_text, tables=DJANGO_2)]


CSV = """\
id,organization_id,action,occurred_at,actor_type,actor_id,actor_name,targets,context_location,context_user_agent,metadata,version
event_1,,user.signed_in,2022-08-29T19:47:52.336Z,user,user_1,"Jon ""J"" Smith, 日本","[{""type"": ""team"", ""id"": ""team_1""}]",123.123.123.123,Chrome,"{""owner"": ""user_2""}",1
event_2,org_2,Team-Renamed,2022-08-29 19:47:52 UTC,admin,user_1,,,"New York, NY",,,2
"""


def workos(folder):
    (folder / "workos.csv").write_text(CSV)
    organization = "org_01EHWNCE74X7JSDV0X3SZ3KJNY"
    rows = {
        "workos-event_1": {
            "action": "user.signed_in", "category": "auth", "tenant_id": organization, "occurred_at": "2022-08-29T19:47:52.336Z",
            "actor": {"id": "user_1", "type": "user", "name": 'Jon "J" Smith, 日本'}, "target": {"id": "team_1", "type": "team"},
            "context": {"ip_address": "123.123.123.123", "user_agent": "Chrome"},
            "metadata": {"owner": "user_2", "version": "1", "actor_type": "user"}},
        "workos-event_2": {
            "action": "event.team_renamed", "category": "mutation", "tenant_id": "org_2", "occurred_at": "2022-08-29T19:47:52.000Z",
            "actor": {"id": "user_1", "type": "user"}, "target": None, "context": {"location": "New York, NY"},
            "metadata": {"original_action": "Team-Renamed", "actor_type": "admin"}},
    }
    event = {"action": "team.user_added", "occurred_at": "2026-02-02T16:35:39.317Z", "version": 1,
             "actor": {"id": "user_1", "type": "user", "name": None, "metadata": {"role": "admin"}},
             "targets": [{"id": "user_9", "type": "user", "metadata": {"seat": "1"}}, {"id": "team_1", "type": "team"}],
             "context": {"location": "2001:db8::1"}, "metadata": {"note": LARGE}}
    lines = [{"organization_id": "org_3", "event": event}, {**event, "id": "json_2", "targets": []}]
    (folder / "workos-events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    # An event without an id has the hash of its line.
    key = "workos-" + hashlib.sha256(json.dumps(lines[0], sort_keys=True).encode()).hexdigest()
    bodies = {
        key: {"action": "team.user_added", "tenant_id": "org_3", "occurred_at": "2026-02-02T16:35:39.317Z", "target": {"id": "user_9"},
              "context": {"ip_address": "2001:db8::1"},
              "metadata": {"actor": {"role": "admin"}, "target": {"seat": "1"}, "other_targets": [{"id": "team_1", "type": "team"}],
                           "note": LARGE[:2000]}},
        "workos-json_2": {"tenant_id": "main", "target": None, "metadata": {"other_targets": None}},
    }
    (folder / "broken.csv").write_text("action,occurred_at,actor\nuser.signed_in,2022-08-29T19:47:52Z,Jon\n")
    return [[Case(rows)], [Case(bodies)]]


RETRACED = """
CREATE TABLE indexed_events (id text PRIMARY KEY, project_id text NOT NULL, environment_id text NOT NULL, doc jsonb NOT NULL);
"""


def retraced(folder):
    party = {"environment_id": "production", "event_count": 1, "project_id": "p", "created": 1682078809050}
    first = {
        "id": "925099768bbc42d6adaa9a13d7ac7d6b", "action": "some.record.created", "component": "crm", "created": 1673711324573, "crud": "c",
        "description": "Grüße 日本 🦀", "is_anonymous": False, "is_failure": False, "source_ip": "203.0.113.7", "version": "v0.0.1",
        "received": 1682078809046, "canonical_time": 1673711324573, "fields": {"country": "India", "large": LARGE},
        "group": {**party, "id": "acme", "name": "Acme"}, "actor": {**party, "id": "78b3", "foreign_id": "user_5", "name": "Jane"},
        "target": {**party, "id": "6415", "foreign_id": "101", "name": "tasks", "type": "tasks"}, "external_id": "E1",
    }
    second = {"id": "b", "action": "Login", "crud": "r", "is_anonymous": True, "received": 1682078809046, "canonical_time": 1682078809046}
    tables = RETRACED + textwrap.dedent(f"""
        INSERT INTO indexed_events VALUES ('1', 'p', 'production', $json${json.dumps(first)}$json$),
            ('2', 'p', 'production', $json${json.dumps(second)}$json$), ('3', 'p', 'staging', '{{}}');""")
    table = {
        f"retraced-{first['id']}": {
            "action": "some.record.created", "category": "mutation", "tenant_id": "acme", "occurred_at": "2023-01-14T15:48:44.573Z",
            "actor": {"id": "user_5", "type": "user", "name": "Jane"}, "target": {"id": "101", "type": "tasks", "name": "tasks"},
            "context": {"ip_address": "203.0.113.7"},
            "metadata": {"description": "Grüße 日本 🦀", "component": "crm", "external_id": "E1", "is_failure": False}},
        "retraced-b": {"action": "event.login", "category": "access", "tenant_id": "main", "actor": {"id": "anonymous", "type": "system"},
                       "target": None, "occurred_at": "2023-04-21T12:06:49.046Z", "metadata": {"original_action": "Login"}},
    }
    node = {"id": "graphql-1", "action": "user.login", "crud": "u", "created": "2023-01-14T15:48:44Z", "canonical_time": "2023-01-14T15:48:44Z",
            "actor": {"id": "user_5", "name": None}, "group": {"id": "acme"}, "target": None, "fields": [{"key": "a", "value": "b"}]}
    response = {"data": {"search": {"totalCount": 1, "edges": [{"cursor": "c", "node": node}]}}}
    (folder / "graphql.jsonl").write_text(json.dumps(response) + "\n")
    graphql = {"retraced-graphql-1": {"action": "user.login", "occurred_at": "2023-01-14T15:48:44.000Z", "actor": {"id": "user_5", "type": "user"},
                                      "target": None, "metadata": {"fields": {"a": "b"}}}}
    return [[Case(table, tables=tables)], [Case(graphql)]]


def cases(folder):
    """The cases of each block of each section of the guide. Creates the files."""
    return {
        "A table with triggers": [triggers()],
        "paper_trail": [versions()],
        "django-auditlog": [django()],
        "WorkOS Audit Logs": workos(folder),
        "Retraced": retraced(folder),
    }
