//! The columns of a file: one for each field of an event, and its position.

use audit_domain::EventField;
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::errors::Result;
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::sync::Arc;

/// The column of the position in the log.
pub(crate) const SEQ: &str = "seq";
/// The number of columns.
pub(crate) const COUNT: usize = 1 + EventField::ALL.len();

/// How a field is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Microseconds since the Unix epoch, of which only whole milliseconds are allowed: the content hash covers no more.
    Time,
    /// A text.
    Text,
    /// The canonical JSON of an array or object.
    Json,
    /// 32 bytes.
    Hash,
    /// The bytes of [`audit_domain::StoredSalt`].
    Salt,
    /// A truth value.
    Flag,
}

/// How a field is stored.
pub(crate) const fn kind(field: EventField) -> Kind {
    use EventField::{
        Action, ActorEmail, ActorId, ActorName, ActorType, Category, Changes, ClaimedAt, ContentSalt, Id,
        IdempotencyKey, IpAddress, Location, Metadata, OccurredAt, OnBehalfOf, Outcome, ReceivedAt, Redacted,
        SessionId, TargetId, TargetName, TargetType, Targets, TenantId, UserAgent,
    };
    match field {
        OccurredAt | ReceivedAt | ClaimedAt => Kind::Time,
        Id | Action | Category | TenantId | ActorId | ActorType | ActorName | ActorEmail | TargetId
        | TargetType | TargetName | IpAddress | UserAgent | Location | SessionId | IdempotencyKey
        | Outcome => Kind::Text,
        Metadata | Changes | OnBehalfOf | Targets => Kind::Json,
        EventField::ContentHash => Kind::Hash,
        ContentSalt => Kind::Salt,
        Redacted => Kind::Flag,
    }
}

/// Whether every event has the field, also after an erasure.
pub(crate) const fn is_required(field: EventField) -> bool {
    matches!(
        field,
        EventField::Id
            | EventField::OccurredAt
            | EventField::ReceivedAt
            | EventField::TenantId
            | EventField::ContentHash
            | EventField::ContentSalt
            | EventField::Redacted
    )
}

/// Whether the column has the least and the greatest value of each row group.
pub(crate) const fn has_statistics(field: EventField) -> bool {
    matches!(kind(field), Kind::Time) || matches!(field, EventField::TenantId | EventField::Action)
}

/// Whether values repeat so much that a dictionary makes the column smaller.
pub(crate) const fn has_dictionary(field: EventField) -> bool {
    matches!(kind(field), Kind::Text | Kind::Json) && !matches!(field, EventField::Id)
}

/// The name of a column: the path of the field with `_` for each dot.
pub(crate) fn name(field: EventField) -> String {
    field.as_str().replace('.', "_")
}

/// The path of a column.
pub(crate) fn path(name: impl Into<String>) -> ColumnPath {
    ColumnPath::new(vec![name.into()])
}

/// The schema of a file. A file with another one is refused.
pub(crate) fn schema() -> Result<TypePtr> {
    let seq = Type::primitive_type_builder(SEQ, PhysicalType::INT64);
    let mut fields = vec![Arc::new(seq.with_repetition(Repetition::REQUIRED).build()?)];
    for field in EventField::ALL {
        let (physical, logical, length) = match kind(*field) {
            Kind::Time => {
                let time = LogicalType::timestamp(true, TimeUnit::MICROS);
                (PhysicalType::INT64, Some(time), -1)
            }
            Kind::Text | Kind::Json => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String), -1),
            Kind::Hash => (PhysicalType::FIXED_LEN_BYTE_ARRAY, None, 32),
            Kind::Salt => (PhysicalType::BYTE_ARRAY, None, -1),
            Kind::Flag => (PhysicalType::BOOLEAN, None, -1),
        };
        let repetition = match is_required(*field) {
            true => Repetition::REQUIRED,
            false => Repetition::OPTIONAL,
        };
        let name = name(*field);
        let column = Type::primitive_type_builder(&name, physical);
        let column = column
            .with_repetition(repetition)
            .with_logical_type(logical)
            .with_length(length);
        fields.push(Arc::new(column.build()?));
    }
    let schema = Type::group_type_builder("event").with_fields(fields);
    Ok(Arc::new(schema.build()?))
}
