//! Which parts of a JSON document are what.

/// What a part of a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Never touched.
    Structure,
    /// Must stay distinguishable: becomes its hash form as a whole.
    Identifier,
    /// JSON of any kind; keys and integers are looked at too.
    FreeForm,
    /// An object or array with parts of its own.
    Container,
    /// Everything else: strings at any depth are looked at.
    Text,
}

/// Says which parts of a document are structure, which are identifiers and which are free-form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    AuditEvent,
    FreeForm,
}

impl Shape {
    /// An audit event. `action`, `category`, `tenant_id`, `actor.type`, `target.type`, `occurred_at` and
    /// `idempotency_key` are structure; `actor.id`, `target.id` and `context.session_id` are identifiers;
    /// `metadata` and `before` and `after` of each of `changes` are free-form. Of everything else, known or
    /// unknown, string values at any depth are looked at.
    pub fn audit_event() -> Shape {
        Shape {
            kind: Kind::AuditEvent,
        }
    }

    /// Any JSON at all: every string, every integer of nine digits or more and every key is looked at.
    pub fn free_form() -> Shape {
        Shape { kind: Kind::FreeForm }
    }

    pub(crate) fn role(self, path: &[&str]) -> Role {
        match self.kind {
            Kind::FreeForm => Role::FreeForm,
            Kind::AuditEvent => match path {
                ["action" | "category" | "tenant_id" | "occurred_at" | "idempotency_key"]
                | ["actor" | "target", "type"] => Role::Structure,
                ["actor" | "target", "id"] | ["context", "session_id"] => Role::Identifier,
                ["metadata"] | ["changes", _, "before" | "after"] => Role::FreeForm,
                [] | ["actor" | "target" | "context" | "changes"] | ["changes", _] => Role::Container,
                _ => Role::Text,
            },
        }
    }
}
