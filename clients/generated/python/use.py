"""Uses the client that openapi-generator makes for Python. Arguments: URL, project key, master key."""

import importlib
import pkgutil
import sys
from datetime import datetime, timedelta, timezone

import audit_log
from audit_log import exceptions

for module in pkgutil.walk_packages(audit_log.__path__, "audit_log."):
    importlib.import_module(module.name)

url, project_key, master_key = sys.argv[1:]
TENANT = "generated-python"


def client(key):
    return audit_log.ApiClient(audit_log.Configuration(host=url, access_token=key))


def event(action, **more):
    actor = audit_log.ActorInput(id="user_1", type=audit_log.ActorType.USER)
    return audit_log.EventInput(
        action=action, category=audit_log.EventCategory.MUTATION, tenant_id=TENANT, actor=actor, **more
    )


events = audit_log.EventsApi(client(project_key))
single = event("user.created", metadata={"plan": "pro"}, occurred_at=datetime.now(timezone.utc))
assert len(events.ingest_events(audit_log.EventsInput(single)).ids) == 1
batch = [event("user.updated") for _ in range(5)]
assert len(events.ingest_events(audit_log.EventsInput(batch)).ids) == 5

day = timedelta(days=1)
now = datetime.now(timezone.utc)
found, cursor = [], None
while True:
    page = events.list_events(tenant_id=[TENANT], start_date=now - day, end_date=now + day, limit=2, cursor=cursor)
    found += page.events
    cursor = page.cursor
    if cursor is None:
        break
assert len(found) == 6, len(found)
assert found[-1].actor.id == "user_1" and found[-1].received_at <= datetime.now(timezone.utc) + day
assert events.list_events(tenant_id=[TENANT], end_date=now - day).events == []

try:
    events.get_event("evt_00000000000000000000000000")
    raise SystemExit("an event that does not exist was found")
except exceptions.NotFoundException as error:
    assert error.data.error.code == audit_log.ErrorCode.NOT_FOUND, error

webhook = audit_log.WebhookInput(url="https://example.com/hook")
made = audit_log.WebhooksApi(client(master_key)).create_webhook(webhook).webhook
assert made.secret.startswith("whsec_") and made.enabled
print("python: ok")
