//! The documentation of the endpoints, by the names of their handlers.

use crate::about::{About, PathParameter, Sample, Tag};
use crate::error_code::ErrorCode;
use crate::schema::Id;
use audit_app::ErasureId;

/// While the log is read.
const LISTING: &str = r#"{"erasure": {
    "id": "ers_01KF15PHN8E1V6GK2Q6JQ5N9Y1", "environment": "live", "state": "listing", "extent": "person", "basis": "gdpr_17",
    "ticket": "DSR-118", "created_at": "2026-01-15T10:30:00.000Z", "created_by": "67e55044-10b1-426f-9247-bb680e5fe0c8",
    "read": 0, "size": 1204331, "events": 0, "rows": 0, "held": 0, "digest": null, "not_before": null, "planned_seq": null,
    "erased_seq": null, "erased_at": null, "done_at": null, "waiting_for": null,
    "out_of_reach": [{
        "kind": "backup", "name": null,
        "detail": "backups that were made before have these events until they are deleted; repeat the erasure after a restore"
    }]
}}"#;

const LISTED: &str = r#"{"erasure": {
    "id": "ers_01KF15PHN8E1V6GK2Q6JQ5N9Y1", "environment": "live", "state": "listed", "extent": "person", "basis": "gdpr_17",
    "ticket": "DSR-118", "created_at": "2026-01-15T10:30:00.000Z", "created_by": "67e55044-10b1-426f-9247-bb680e5fe0c8",
    "read": 1204331, "size": 1204331, "events": 17, "rows": 0, "held": 2,
    "digest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "not_before": null,
    "planned_seq": null, "erased_seq": null, "erased_at": null, "done_at": null, "waiting_for": null, "out_of_reach": []
}}"#;

const PLANNED: &str = r#"{"erasure": {
    "id": "ers_01KF15PHN8E1V6GK2Q6JQ5N9Y1", "environment": "live", "state": "planned", "extent": "person", "basis": "gdpr_17",
    "ticket": "DSR-118", "created_at": "2026-01-15T10:30:00.000Z", "created_by": "67e55044-10b1-426f-9247-bb680e5fe0c8",
    "read": 1204331, "size": 1204331, "events": 17, "rows": 0, "held": 2,
    "digest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "not_before": "2026-01-16T10:45:00.000Z", "planned_seq": 1204340, "erased_seq": null, "erased_at": null, "done_at": null, "waiting_for": null,
    "out_of_reach": []
}}"#;

const DONE: &str = r#"{"erasure": {
    "id": "ers_01KF15PHN8E1V6GK2Q6JQ5N9Y1", "environment": "live", "state": "done", "extent": "person", "basis": "gdpr_17",
    "ticket": "DSR-118", "created_at": "2026-01-15T10:30:00.000Z", "created_by": "67e55044-10b1-426f-9247-bb680e5fe0c8",
    "read": 1204331, "size": 1204331, "events": 17, "rows": 0, "held": 2,
    "digest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "not_before": "2026-01-16T10:45:00.000Z", "planned_seq": 1204340, "erased_seq": 1209871,
    "erased_at": "2026-01-16T10:46:00.000Z", "done_at": "2026-01-16T10:48:00.000Z", "waiting_for": null,
    "out_of_reach": [{
        "kind": "destination", "name": "Splunk",
        "detail": "it may have got some of these events; it gets audit.events.erased"
    }]
}}"#;

const fn path() -> Option<PathParameter> {
    Some(PathParameter {
        description: "The id of the erasure.",
        schema: |generator| generator.subschema_for::<Id<ErasureId>>(),
        example: "ers_01KF15PHN8E1V6GK2Q6JQ5N9Y1",
        refusal: ErrorCode::NotFound,
    })
}

pub(crate) fn request() -> About {
    About {
        description: "Reads the whole log for events that name the person, and makes a list of them. Nothing is erased until the list \
                      is confirmed. The identifiers are held in memory while the log is read, and are in no response, event or log \
                      line; where the process that reads ends before, the erasure is cancelled. Texts that redaction has masked are \
                      not found. A log has at most 20 open erasures, and a server with `--no-removals` takes none: 409 `conflict`. Where \
                      nothing is found, the `state` becomes `done` without an event in the log.",
        requests: &[Sample(
            "example",
            r#"{
                "identifiers": {"ids": ["usr_42"], "texts": ["jane@example.com", "Jane Doe"]}, "extent": "person", "basis": "gdpr_17",
                "ticket": "DSR-118"
            }"#,
        )],
        outcome: "The erasure.",
        responses: &[Sample("example", LISTING)],
        errors: &[ErrorCode::Conflict, ErrorCode::LogInconsistent],
        is_additive: true,
        ..About::new("request_erasure", Tag::Retention, "Request an erasure")
    }
}

pub(crate) fn list() -> About {
    About {
        description: "The erasures, the newest first. Cancelled ones are forgotten.",
        outcome: "The erasures.",
        responses: &[Sample(
            "example",
            r#"{"erasures": [{
                "id": "ers_01KF15PHN8E1V6GK2Q6JQ5N9Y1", "environment": "live", "state": "listed", "extent": "all", "basis": "contract",
                "ticket": null, "created_at": "2026-01-15T10:30:00.000Z", "created_by": "67e55044-10b1-426f-9247-bb680e5fe0c8",
                "read": 1204331, "size": 1204331, "events": 17, "rows": 0, "held": 2,
                "digest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "not_before": null,
                "planned_seq": null, "erased_seq": null, "erased_at": null, "done_at": null, "waiting_for": null, "out_of_reach": []
            }]}"#,
        )],
        errors: &[ErrorCode::LogInconsistent],
        is_additive: true,
        ..About::new("list_erasures", Tag::Retention, "List erasures")
    }
}

pub(crate) fn get() -> About {
    About {
        description: "An erasure that was cancelled is soon 404. `out_of_reach` names copies that it does not reach.",
        path: path(),
        outcome: "The erasure.",
        responses: &[Sample("listed", LISTED), Sample("done", DONE)],
        errors: &[ErrorCode::LogInconsistent],
        is_additive: true,
        ..About::new("get_erasure", Tag::Retention, "Read an erasure")
    }
}

pub(crate) fn events() -> About {
    About {
        description: "The events of the list and their parts that are erased, by position. After the erasure without what is gone.",
        path: path(),
        outcome: "One page of the list.",
        responses: &[Sample(
            "example",
            r#"{"events": [
                {
                    "seq": 812, "id": "evt_01KF15PHN8E1V6GK2Q6JQ5N9Y1", "occurred_at": "2025-11-02T09:15:00.000Z",
                    "action": "user.login", "row": false, "parts": ["actor.email", "actor.id", "actor.name"]
                },
                {"seq": 813, "id": null, "occurred_at": null, "action": null, "row": true, "parts": []}
            ], "cursor": "813", "has_more": true}"#,
        )],
        errors: &[ErrorCode::LogInconsistent],
        is_additive: true,
        ..About::new(
            "list_erasure_events",
            Tag::Retention,
            "List the events of an erasure",
        )
    }
}

pub(crate) fn exclude() -> About {
    About {
        description: "Takes events off a list that is not confirmed yet. The `digest` changes. In another `state` than `listed`: 409 \
                      `conflict`.",
        path: path(),
        requests: &[Sample("example", r#"{"seqs": [812, 840]}"#)],
        outcome: "The erasure.",
        responses: &[Sample("example", LISTED)],
        errors: &[ErrorCode::Conflict, ErrorCode::LogInconsistent],
        is_additive: true,
        ..About::new(
            "exclude_from_erasure",
            Tag::Retention,
            "Take events off an erasure",
        )
    }
}

pub(crate) fn confirm() -> About {
    About {
        description: "Plans the erasure as an event of the log. After the grace period another event authorises it. `digest` confirms \
                      exactly the list that was read: where the list has another one, is not complete, is planned already, or a hold was \
                      placed since it was made, the response is 409 `conflict`. A hold that is placed in the grace period cancels the \
                      erasure.",
        path: path(),
        requests: &[Sample(
            "example",
            r#"{"digest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}"#,
        )],
        outcome: "The planned erasure.",
        responses: &[Sample("example", PLANNED)],
        errors: &[ErrorCode::Conflict, ErrorCode::LogInconsistent],
        is_additive: true,
        ..About::new("confirm_erasure", Tag::Retention, "Confirm an erasure")
    }
}

pub(crate) fn cancel() -> About {
    About {
        description: "Until the log authorises it; from then on, 409 `conflict`.",
        path: path(),
        outcome: "The cancelled erasure.",
        responses: &[Sample(
            "example",
            r#"{"erasure": {
                "id": "ers_01KF15PHN8E1V6GK2Q6JQ5N9Y1", "environment": "live", "state": "cancelled", "extent": "row", "basis": "other",
                "ticket": null, "created_at": "2026-01-15T10:30:00.000Z", "created_by": "67e55044-10b1-426f-9247-bb680e5fe0c8",
                "read": 1204331, "size": 1204331, "events": 17, "rows": 17, "held": 2,
                "digest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "not_before": null,
                "planned_seq": null, "erased_seq": null, "erased_at": null, "done_at": null, "waiting_for": null, "out_of_reach": []
            }}"#,
        )],
        errors: &[ErrorCode::Conflict, ErrorCode::LogInconsistent],
        is_additive: true,
        ..About::new("cancel_erasure", Tag::Retention, "Cancel an erasure")
    }
}
