//! What the documentation says about the endpoints of destinations.

use crate::about::{About, PathParameter, Sample, Tag};
use crate::error_code::ErrorCode;
use crate::schema::Id;
use audit_app::DestinationId;

pub(crate) fn id() -> Option<PathParameter> {
    Some(PathParameter {
        description: "The id of the destination.",
        schema: |generator| generator.subschema_for::<Id<DestinationId>>(),
        example: "dst_01M7YBWVWMHR5F0HZ7FNJ76A1V",
        refusal: ErrorCode::NotFound,
    })
}

const CREATED: &str = r#"{"destination": {
    "id": "dst_01M7YBWVWMHR5F0HZ7FNJ76A1V", "name": "SIEM", "kind": "https", "environment": "live", "format": "ocsf",
    "include_raw": false, "ocsf_classes": [{"action": "invoice.*", "class_uid": 3004, "activity_id": 99}],
    "filter": {"actions": ["auth.*"], "categories": ["auth"], "tenant_ids": ["acme"]},
    "settings": {"url": "https://siem.example.com/ingest", "framing": "array", "headers": {}},
    "credentials": ["headers", "signing_secret"], "paused": false, "state": "active",
    "created_at": "2026-01-15T10:30:00.268Z", "created_by_tenant": null, "position": 0, "cursor_seq": 40, "lag_events": 0, "lag_seconds": null,
    "last_success_at": null, "last_error": null, "next_attempt_at": null, "set_aside": 0,
    "previous_credentials_in_use": false, "replay": null,
    "signing_secret": "whsec_q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s="
}}"#;

const RUNNING: &str = r#"{"destination": {
    "id": "dst_01M7YBWVWMHR5F0HZ7FNJ76A1V", "name": "SIEM", "kind": "https", "environment": "live", "format": "json",
    "include_raw": false, "ocsf_classes": [], "filter": {},
    "settings": {"url": "https://siem.example.com/ingest", "framing": "array", "headers": {}},
    "credentials": ["headers", "signing_secret"], "paused": false, "state": "delayed",
    "created_at": "2026-01-15T10:30:00.268Z", "created_by_tenant": null, "position": 120, "cursor_seq": 345, "lag_events": 12, "lag_seconds": 31,
    "last_success_at": "2026-01-15T11:00:00.000Z",
    "last_error": {
        "at": "2026-01-15T11:00:31.000Z", "status": 503, "request": "POST https://siem.example.com/… 12 records, 10,340 bytes",
        "response": "busy"
    },
    "next_attempt_at": "2026-01-15T11:01:03.000Z", "set_aside": 1, "previous_credentials_in_use": true,
    "replay": {"number": 1768474800000, "position": 3, "cursor_seq": 3, "end_seq": 40, "state": "active"}
}}"#;

pub(crate) fn list() -> About {
    About {
        description: "Those of the environment, oldest first, on every plan; those of tenants as well. A viewer token lists those of its \
                      tenant. It needs a tier whose `routes` have `destinations`, as for every route of destinations: \
                      otherwise 403 `forbidden`.",
        outcome: "The destinations; their credentials by name.",
        responses: &[Sample(
            "example",
            r#"{"destinations": [{
                "id": "dst_01M7YBWVWMHR5F0HZ7FNJ76A1V", "name": "SIEM", "kind": "splunk_hec", "environment": "live",
                "format": "json", "include_raw": false, "ocsf_classes": [], "filter": {},
                "settings": {"url": "https://splunk.example.com:8088", "sourcetype": "audit-log"}, "credentials": ["token"],
                "paused": true, "state": "paused", "created_at": "2026-01-15T10:30:00.268Z", "created_by_tenant": null, "position": 0,
                "cursor_seq": 40, "lag_events": 0, "lag_seconds": null, "last_success_at": null, "last_error": null,
                "next_attempt_at": null, "set_aside": 0, "previous_credentials_in_use": false, "replay": null
            }]}"#,
        )],
        is_additive: true,
        ..About::new("list_destinations", Tag::Destinations, "List destinations")
    }
}

pub(crate) fn get() -> About {
    About {
        description: "With its state, on every plan. A viewer token finds those of its tenant alone, also on the routes below it.",
        path: id(),
        outcome: "The destination; its credentials by name.",
        responses: &[Sample("example", RUNNING)],
        is_additive: true,
        ..About::new("get_destination", Tag::Destinations, "Read one destination")
    }
}

pub(crate) fn create() -> About {
    About {
        description: "It gets the events from its own creation on; a replay sends earlier ones. Needs a paid plan. At most \
                      20 destinations of a project, 3 of a tenant and 100 of all tenants of a project (403 `forbidden`). Nothing is \
                      sent by this request. With a viewer token, the destination gets the live events of the tenant and no \
                      others, its receiver needs a public address, and `kind` is one that the portal allows.\n\n\
                      `settings` and `credentials` depend on `kind`. `https`: `url`, `framing` (`array` or `lines`), \
                      `headers`; `headers`, `signing_secret`, which the service makes if it is absent. `s3`: `url` of the \
                      bucket, `region`, `compress`; `access_key`, `secret_key`. `splunk_hec`: `url`, `index`, `source`, \
                      `sourcetype`; `token`. `datadog`: `site` or `url`, `service`, `tags`; `api_key`. `otlp`: `url`, \
                      `headers`; `headers`. `syslog`: `host`, `port`, `app_name`, `facility`, `ca`; `client_certificate`, \
                      `client_key`.",
        requests: &[Sample(
            "example",
            r#"{
                "name": "SIEM", "kind": "https", "format": "ocsf", "include_raw": false,
                "ocsf_classes": [{"action": "invoice.*", "class_uid": 3004, "activity_id": 99}],
                "filter": {"actions": ["auth.*"], "categories": ["auth"], "tenant_ids": ["acme"]},
                "settings": {"url": "https://siem.example.com/ingest"},
                "credentials": {"headers": {"authorization": "Bearer …"}}, "paused": false, "environment": "live"
            }"#,
        )],
        outcome: "The destination. With a signing secret that the service has made, which is not shown again.",
        responses: &[Sample("example", CREATED)],
        is_additive: true,
        ..About::new("create_destination", Tag::Destinations, "Create a destination")
    }
}

pub(crate) fn change() -> About {
    About {
        description: "On every plan. New `settings` need `credentials` too. After new credentials, the ones before are used \
                      while the receiver refuses the new ones. New credentials and settings, and `paused: false`, let a \
                      destination that waits or is parked send at once. A batch that is being sent is not changed. Of the \
                      destination of a tenant, a master key changes `paused` alone (403 `forbidden`).",
        path: id(),
        requests: &[Sample(
            "example",
            r#"{
                "name": "SIEM", "format": "json", "include_raw": false,
                "ocsf_classes": [{"action": "invoice.*", "class_uid": 3004, "activity_id": 99}],
                "filter": {"actions": ["auth.*"], "categories": ["auth"], "tenant_ids": ["acme"]},
                "settings": {"url": "https://siem.example.com/ingest"},
                "credentials": {"headers": {"authorization": "Bearer …"}}, "paused": false
            }"#,
        )],
        outcome: "The changed destination. With a signing secret that the service has made, which is not shown again.",
        responses: &[Sample("example", RUNNING)],
        is_additive: true,
        ..About::new("update_destination", Tag::Destinations, "Change a destination")
    }
}

pub(crate) fn delete() -> About {
    About {
        description: "On every plan. Also deletes its list of events that were set aside. To stop sending for a time, pause it.",
        path: id(),
        outcome: "The destination is deleted.",
        responses: &[Sample("example", r#"{"deleted": true}"#)],
        is_additive: true,
        ..About::new("delete_destination", Tag::Destinations, "Delete a destination")
    }
}
