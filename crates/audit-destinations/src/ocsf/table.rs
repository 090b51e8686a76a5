//! Which event is of which class of OCSF, by version of the schema. A version of the schema is a table; no code knows a class's numbers.
//!
//! Source: <https://schema.ocsf.io/1.8.0>, `github.com/ocsf/ocsf-schema` at the tag `1.8.0` (`events/iam`, `events/application`).

/// What a class requires of an event, and which attributes it has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `user`: the target that is one.
    Account,
    /// `user`: the target that is one, else the actor.
    OwnAccount,
    /// `user` and `service`.
    Authentication,
    /// `entity`: the first target.
    Entity,
    /// `user` and `privileges`.
    UserAccess,
    /// `group`, and `user` where another target is one.
    Group,
    /// `api` and `src_endpoint`; has `resources`. Any event has this shape.
    Api,
}

/// What events a rule is about, and their class.
pub(super) struct Rule {
    /// `class_uid`. The category is the thousands.
    pub(super) class_uid: u32,
    pub(super) shape: Shape,
    /// The event's category is one of these; empty for any.
    pub(super) categories: &'static [&'static str],
    /// The noun of the verb is among these; empty for any.
    pub(super) nouns: &'static [&'static str],
    /// `activity_id`, and the verbs that it is for.
    pub(super) activities: &'static [(u32, &'static [&'static str])],
}

/// A class that an action can be assigned to.
pub(super) struct Class {
    /// `class_uid`.
    pub(super) uid: u32,
    /// What it requires for an activity that no rule has.
    pub(super) shape: Shape,
    /// Its activities are 1 to this one, and [`OTHER`].
    pub(super) activity_max: u32,
}

/// A version of the schema.
pub(super) struct Version {
    /// `metadata.version`.
    pub(super) version: &'static str,
    /// Those of `rules` and `other`.
    pub(super) classes: &'static [Class],
    /// The first rule that fits and whose class has what it requires.
    pub(super) rules: &'static [Rule],
    /// For events that no rule fits.
    pub(super) other: Rule,
}

/// Types of targets that are users.
pub(super) const USER_TYPES: &[&str] = &["user", "member", "account", "admin", "service_account"];
/// Types of targets that are groups.
pub(super) const GROUP_TYPES: &[&str] = &["group", "team"];
/// Words for what a user may do: types of targets, and fields of changes.
pub(super) const PRIVILEGE_WORDS: &[&str] = &[
    "role",
    "roles",
    "permission",
    "permissions",
    "privilege",
    "privileges",
    "policy",
    "policies",
    "scope",
    "scopes",
];
/// `activity_id` of what has none of its own; `activity_name` says what it is.
pub(super) const OTHER: u32 = 99;
/// The class of records that are no audit events, such as checkpoints.
pub(super) const BASE_CLASS_UID: u32 = 0;

const fn class(uid: u32, shape: Shape, activity_max: u32) -> Class {
    Class {
        uid,
        shape,
        activity_max,
    }
}

const CREATE: &[&str] = &["created", "create", "added", "registered", "invited", "uploaded"];
const READ: &[&str] = &[
    "viewed",
    "view",
    "read",
    "listed",
    "list",
    "exported",
    "export",
    "downloaded",
    "download",
    "accessed",
    "searched",
    "search",
    "get",
    "describe",
    "lookup",
    "head",
];
const UPDATE: &[&str] = &[
    "updated", "update", "changed", "edited", "modified", "modify", "renamed", "set", "put", "rotated",
];
const DELETE: &[&str] = &["deleted", "delete", "removed", "destroyed", "purged"];
const ENABLE: &[&str] = &["enabled", "enable", "reactivated", "activated"];
const DISABLE: &[&str] = &["disabled", "disable", "deactivated", "suspended"];

/// OCSF 1.8.0 of 2026-03-16.
pub(super) const V1_8_0: Version = Version {
    version: "1.8.0",
    classes: &[
        class(3001, Shape::Account, 12),
        class(3002, Shape::Authentication, 7),
        class(3004, Shape::Entity, 13),
        class(3005, Shape::UserAccess, 2),
        class(3006, Shape::Group, 8),
        class(6003, Shape::Api, 4),
    ],
    rules: &[
        Rule {
            class_uid: 3002,
            shape: Shape::Authentication,
            categories: &["auth", "security"],
            nouns: &[],
            activities: &[
                (
                    1,
                    &[
                        "login",
                        "logged_in",
                        "log_in",
                        "logon",
                        "signin",
                        "signed_in",
                        "sign_in",
                    ],
                ),
                (
                    2,
                    &[
                        "logout",
                        "logged_out",
                        "log_out",
                        "logoff",
                        "signout",
                        "signed_out",
                        "sign_out",
                    ],
                ),
            ],
        },
        Rule {
            class_uid: 3001,
            shape: Shape::OwnAccount,
            categories: &[],
            nouns: &["mfa", "2fa", "totp"],
            activities: &[
                (10, &["enabled", "enable", "enrolled", "activated", "added"]),
                (11, &["disabled", "disable", "deactivated", "removed", "deleted"]),
            ],
        },
        Rule {
            class_uid: 3001,
            shape: Shape::OwnAccount,
            categories: &[],
            nouns: &["password"],
            activities: &[(3, &["changed", "updated", "set", "change"]), (4, &["reset"])],
        },
        Rule {
            class_uid: 3005,
            shape: Shape::UserAccess,
            categories: &[],
            nouns: PRIVILEGE_WORDS,
            activities: &[
                (1, &["granted", "grant", "assigned", "assign", "added"]),
                (2, &["revoked", "revoke", "unassigned", "removed"]),
            ],
        },
        Rule {
            class_uid: 3006,
            shape: Shape::Group,
            categories: &[],
            nouns: &["member", "user"],
            activities: &[(3, &["added", "joined"]), (4, &["removed", "left"])],
        },
        Rule {
            class_uid: 3006,
            shape: Shape::Group,
            categories: &[],
            nouns: GROUP_TYPES,
            activities: &[
                (5, &["deleted", "delete", "removed"]),
                (6, &["created", "create"]),
            ],
        },
        Rule {
            class_uid: 3001,
            shape: Shape::Account,
            categories: &[],
            nouns: &["user", "member", "account", "admin"],
            activities: &[
                (1, &["created", "create", "registered", "invited", "provisioned"]),
                (2, ENABLE),
                (5, DISABLE),
                (6, &["deleted", "delete"]),
                (9, &["locked", "lock", "blocked"]),
                (12, &["unlocked", "unlock", "unblocked"]),
            ],
        },
        Rule {
            class_uid: 3004,
            shape: Shape::Entity,
            categories: &["admin", "security"],
            nouns: &[],
            activities: &[
                (1, CREATE),
                (2, READ),
                (3, UPDATE),
                (4, DELETE),
                (5, &["moved"]),
                (8, &["enabled", "enable"]),
                (9, &["disabled", "disable"]),
                (10, &["activated"]),
                (11, &["deactivated"]),
                (12, &["suspended", "paused"]),
                (13, &["resumed"]),
            ],
        },
    ],
    other: Rule {
        class_uid: 6003,
        shape: Shape::Api,
        categories: &[],
        nouns: &[],
        activities: &[(1, CREATE), (2, READ), (3, UPDATE), (4, DELETE)],
    },
};
