//! The roles of the parts of a JSON document.

/// The role of a part of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Never touched.
    Structure,
    /// Must stay distinguishable: hashed as a whole.
    Identifier,
    /// Any JSON: strings, integers and keys are scanned at every depth.
    FreeForm,
    /// An object or array whose members have roles of their own.
    Container,
    /// Anything else: strings are scanned at every depth.
    Text,
}

/// The layout of a document: which parts are structure, which are identifiers and which are free-form.
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
    /// An audit event. `action`, `category`, `tenant_id`, `actor.type`, `target.type`, `occurred_at`, `outcome` and
    /// `idempotency_key` are structure; `actor.id`, `target.id` and `context.session_id` are identifiers;
    /// `actor.on_behalf_of` is as `actor`, and each of `targets` as `target`;
    /// `metadata` and `before` and `after` of each of `changes` are free-form. In all other parts, known or unknown,
    /// string values at every depth are scanned.
    pub fn audit_event() -> Shape {
        Shape {
            kind: Kind::AuditEvent,
        }
    }

    /// Any JSON. Every string, every integer of at least nine digits and every key is scanned.
    pub fn free_form() -> Shape {
        Shape { kind: Kind::FreeForm }
    }

    pub(crate) fn role(self, path: &[&str]) -> Role {
        match self.kind {
            Kind::FreeForm => Role::FreeForm,
            Kind::AuditEvent => match path {
                ["action" | "category" | "tenant_id" | "occurred_at" | "idempotency_key" | "outcome"]
                | ["actor" | "target", "type"]
                | ["actor", "on_behalf_of", "type"]
                | ["targets", _, "type"] => Role::Structure,
                ["actor" | "target", "id"]
                | ["actor", "on_behalf_of", "id"]
                | ["targets", _, "id"]
                | ["context", "session_id"] => Role::Identifier,
                ["metadata"] | ["changes", _, "before" | "after"] => Role::FreeForm,
                []
                | ["actor" | "target" | "targets" | "context" | "changes"]
                | ["actor", "on_behalf_of"]
                | ["targets" | "changes", _] => Role::Container,
                _ => Role::Text,
            },
        }
    }
}
