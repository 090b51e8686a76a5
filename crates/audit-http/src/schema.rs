//! Schemas of the parts of bodies and parameters. The types here have no values: they are the types of fields of structs
//! that only describe, and in `#[schemars(with = "…")]` where a field's own type has no schema.

use crate::error_code::ErrorCode;
use audit_app::{
    AlertAction, AlertId, AlertStatus, Behavior, Builtin, DeliveryId, DeliveryKind, DeliveryStatus,
    DestinationId, DestinationKind, DestinationState, DestinationVerdict, DistinctField, ErasureId,
    ErasureState, FailureKind, FieldPath, GroupBy, HoldId, Logo, OutOfReachKind, Pattern, RETENTION_DAYS_MAX,
    RecordFormat, RetentionPreset, Severity, SignInUrl, StreamStatus, WaitingFor, WebhookFormat, WebhookId,
};
use audit_domain::{
    Action, ActionGlob, ActionIcon, ActorType, Basis, Category, Environment, EventId, Extent, HiddenField,
    Interval, KeyScope, MetadataPath, Name, Outcome, Plan, Search, SentenceTemplate, TierName, ViewerRoute,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::marker::PhantomData;

/// Marks additions to the common interface.
pub(crate) const ADDITIVE: &str = "x-additive";

/// A closed list of words.
pub(crate) trait Words {
    const NAME: &'static str;
    const ABOUT: &'static str;

    fn words() -> Vec<&'static str>;
}

/// Makes types [`Words`]: the name of the schema, the method that has the word, and the description.
macro_rules! words_of {
    ($($type:ty: $name:literal, $word:ident, $about:literal;)+) => {
        $(impl $crate::schema::Words for $type {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;

            fn words() -> Vec<&'static str> {
                <$type>::ALL.iter().map(|value| value.$word()).collect()
            }
        })+
    };
}

pub(crate) use words_of;

words_of! {
    ViewerRoute: "ViewerRoute", as_str, "Additional routes of viewer tokens.";
    ActionIcon: "ActionIcon", as_str, "A picture beside an action.";
    ActorType: "ActorType", as_str, "The type of the actor.";
    AlertAction: "AlertAction", as_str, "The new status of an alert.";
    AlertStatus: "AlertStatus", as_str, "The status of an alert.";
    Basis: "ErasureBasis", as_str, "The legal ground of an erasure.";
    Behavior: "RedactionBehavior", as_str, "What a redaction rule replaces a match with.";
    Builtin: "BuiltinRedaction", name, "A built-in kind of sensitive data.";
    Category: "EventCategory", as_str, "The kind of an event.";
    DeliveryKind: "DeliveryType", as_str, "The type of a message.";
    DeliveryStatus: "DeliveryStatus", as_str, "The status of a delivery: `pending` while attempts follow.";
    DestinationKind: "DestinationKind", as_str, "How a receiver is reached.";
    DestinationState: "DestinationState", as_str, "Whether records arrive.";
    DestinationVerdict: "DestinationVerdict", as_str, "What became of an attempt to send a record.";
    Environment: "ProjectEnvironment", as_str, "Live and test data of a project never mix.";
    ErasureState: "ErasureState", as_str, "How far an erasure is.";
    Extent: "ErasureExtent", as_str, "What of each event is erased.";
    Interval: "SummaryInterval", as_str, "The length of the buckets in which events are counted.";
    Outcome: "EventOutcome", as_str, "How the action ended.";
    ErrorCode: "ErrorCode", as_str, "Error codes. Each has one status.";
    FailureKind: "FailureKind", as_str, "Why an attempt got no response.";
    OutOfReachKind: "OutOfReachKind", as_str, "A kind of copies that an erasure does not reach.";
    DistinctField: "DistinctField", as_str, "Of which field an alert rule counts distinct values.";
    GroupBy: "GroupBy", as_str, "By what an alert rule groups events.";
    KeyScope: "KeyScope", as_str, "A permission of a key.";
    Plan: "Plan", as_str, "The plan of an organization.";
    RecordFormat: "DestinationFormat", as_str, "The format of records.";
    RetentionPreset: "RetentionPreset", as_str, "A retention by the name of a rule.";
    Severity: "AlertSeverity", as_str, "How much an alert matters, from least to most.";
    StreamStatus: "StreamStatus", as_str, "The status of a stream.";
    WaitingFor: "RetentionWait", as_str, "What holds a removal or an erasure back. An erasure waits for `clock`, `signature` or `quorum`.";
    WebhookFormat: "WebhookFormat", as_str, "The shape of the body of messages to a webhook.";
}

/// One of the words of `T`.
pub(crate) struct Word<T>(PhantomData<T>);

impl<T: Words> JsonSchema for Word<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = json_schema!({"type": "string", "description": T::ABOUT, "enum": T::words()});
        let names: Vec<String> = T::words()
            .iter()
            .map(|word| variable_name(T::NAME, word))
            .collect();
        if AMBIGUOUS.iter().any(|(list, ..)| *list == T::NAME) {
            schema.insert("x-enum-varnames".to_owned(), json!(names));
        }
        schema
    }
}

/// Words that are in two lists, with the names that generators give their constants in one of them: in some languages the
/// constants of all lists share a name space.
const AMBIGUOUS: [(&str, &str, &str); 17] = [
    ("ActionIcon", "user", "USER_ICON"),
    ("ActorType", "system", "SYSTEM_ACTOR"),
    ("AlertAction", "acknowledged", "ACKNOWLEDGE"),
    ("AlertAction", "resolved", "RESOLVE"),
    ("DestinationFormat", "json", "JSON_RECORDS"),
    ("DestinationState", "active", "ACTIVE_DESTINATION"),
    ("DestinationVerdict", "credentials", "CREDENTIALS_REFUSED"),
    ("DestinationVerdict", "delivered", "RECORD_DELIVERED"),
    ("ErasureExtent", "all", "ALL_PARTS"),
    ("KeyScope", "admin", "ADMIN_SCOPE"),
    ("DistinctField", "actor_id", "DISTINCT_ACTORS"),
    ("DistinctField", "ip_address", "DISTINCT_ADDRESSES"),
    ("DistinctField", "session_id", "DISTINCT_SESSIONS"),
    ("DistinctField", "target_id", "DISTINCT_TARGETS"),
    ("OutOfReachKind", "destination", "DESTINATION_COPIES"),
    ("ReportFormat", "json", "JSON_REPORT"),
    ("SearchScope", "email", "EMAIL_SCOPE"),
];

/// The name of a word's constant in generated clients.
pub(crate) fn variable_name(list: &str, word: &str) -> String {
    let named = AMBIGUOUS.iter().find(|known| known.0 == list && known.1 == word);
    match named {
        Some((.., name)) => (*name).to_owned(),
        None => word
            .to_uppercase()
            .replace(|character: char| !character.is_alphanumeric(), "_"),
    }
}

/// An id with a prefix and a ULID.
pub(crate) trait Prefixed {
    const NAME: &'static str;
    const PREFIX: &'static str;
}

macro_rules! prefixed {
    ($($type:ty: $name:literal;)+) => {
        $(impl Prefixed for $type {
            const NAME: &'static str = $name;
            const PREFIX: &'static str = <$type>::PREFIX;
        })+
    };
}

prefixed! {
    AlertId: "AlertId";
    DeliveryId: "DeliveryId";
    DestinationId: "DestinationId";
    ErasureId: "ErasureId";
    EventId: "EventId";
    HoldId: "HoldId";
    WebhookId: "WebhookId";
}

/// The text of an id `T`.
pub(crate) struct Id<T>(PhantomData<T>);

impl<T: Prefixed> JsonSchema for Id<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        prefixed_ulid(T::PREFIX)
    }
}

/// A prefix and 26 characters of Crockford base32, which hold 128 bits.
fn prefixed_ulid(prefix: &str) -> Schema {
    json_schema!({
        "type": "string",
        "description": format!("`{prefix}` and a ULID."),
        "pattern": format!("^{prefix}[0-7][0-9A-HJKMNP-TV-Z]{{25}}$"),
    })
}

/// A text of so many characters.
pub(crate) struct Text<const CHARS_MIN: usize, const CHARS_MAX: usize>;

impl<const CHARS_MIN: usize, const CHARS_MAX: usize> JsonSchema for Text<CHARS_MIN, CHARS_MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Text_{CHARS_MIN}_{CHARS_MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        text(CHARS_MIN, CHARS_MAX, None)
    }
}

/// The name of a key, rule or project.
pub(crate) type NameText = Text<1, { Name::CHARS_MAX }>;

fn text(chars_min: usize, chars_max: usize, pattern: Option<&str>) -> Schema {
    let mut schema = json_schema!({"type": "string", "maxLength": chars_max});
    if chars_min > 0 {
        schema.insert("minLength".to_owned(), chars_min.into());
    }
    if let Some(pattern) = pattern {
        schema.insert("pattern".to_owned(), pattern.into());
    }
    schema
}

macro_rules! described {
    ($($(#[$doc:meta])* $name:ident = $schema:expr;)+) => {
        $(
            $(#[$doc])*
            pub(crate) struct $name;

            impl JsonSchema for $name {
                fn inline_schema() -> bool {
                    true
                }

                fn schema_name() -> Cow<'static, str> {
                    stringify!($name).into()
                }

                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    $schema
                }
            }
        )+
    };
}

described! {
    /// A time as responses have it.
    Time = json_schema!({"type": "string", "format": "date-time"});
    /// A time as requests may have it.
    AnyTime = json_schema!({"type": "string", "format": "date-time"});
    /// A UUID with hyphens.
    Uuid = json_schema!({"type": "string", "format": "uuid"});
    /// A UUID of version 4 with hyphens.
    RandomUuid = json_schema!({
        "type": "string",
        "pattern": "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-4[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$",
    });
    /// An event's action.
    ActionText = text(0, Action::CHARS_MAX, Some(r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$"));
    /// An action, or its beginning and a star.
    ActionFilterText = text(1, Action::CHARS_MAX, Some(r"^[a-z0-9_.]*\*?$"));
    /// A pattern over whole actions.
    GlobText = text(1, ActionGlob::CHARS_MAX, Some("^[a-z0-9_.*]+$"));
    /// The name of a viewer tier.
    TierNameText = text(1, TierName::CHARS_MAX, Some("^[a-z0-9_-]+$"));
    /// The tag of a language.
    LanguageText = json_schema!({"type": "string", "pattern": "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"});
    /// The template of a sentence about an event.
    TemplateText = text(1, SentenceTemplate::CHARS_MAX, None);
    /// The data URL of a logo.
    LogoText = text(0, Logo::URL_CHARS_MAX, Some("^data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$"));
    /// The URL of a page at which readers of a portal sign in.
    SignInUrlText = text(0, SignInUrl::CHARS_MAX, Some("^[Hh][Tt][Tt][Pp][Ss]?://[^#]+$"));
    /// The path of a field that a viewer tier hides.
    HiddenFieldText = text(0, HiddenField::CHARS_MAX, Some(&format!(
        r"^({})(\.[^.]+)*$",
        HiddenField::roots().join("|")
    )));
    /// The path of a member of the metadata by which events can be filtered.
    MetadataPathText = text(0, MetadataPath::CHARS_MAX, Some(r"^metadata(\.([^.*]|[^.]{2,}))+$"));
    /// The path of a field that a redaction rule names.
    FieldPathText = text(0, FieldPath::CHARS_MAX, Some(&format!(
        r"^[^.]+(\.[^.]+){{0,{}}}$",
        FieldPath::STEPS_MAX - 1
    )));
    /// A regular expression of a redaction rule.
    PatternText = text(1, Pattern::CHARS_MAX, None);
    /// Words to search for.
    SearchText = text(1, Search::CHARS_MAX, None);
    /// An offset from UTC.
    UtcOffsetText = json_schema!({"type": "string", "pattern": r"^[+-]((0[0-9]|1[0-3]):[0-5][0-9]|14:00)$"});
    /// The name of a time zone in the IANA database.
    TimeZoneName = json_schema!({"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_+/-]*$"});
    /// How many days events are kept.
    RetentionDays = json_schema!({"type": "integer", "minimum": 1, "maximum": RETENTION_DAYS_MAX});
    /// The hash of an event.
    ContentHashText = json_schema!({"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"});
    /// The random bytes in the hash of an event.
    ContentSaltText = json_schema!({"type": "string", "pattern": "^[0-9a-f]{32}$"});
    /// The id of a message to a webhook.
    MessageIdText = prefixed_ulid("msg_");
    /// Any JSON.
    FreeForm = json_schema!({});
    /// A JSON object with any fields.
    FreeFormObject = json_schema!({"type": "object", "additionalProperties": true});
    /// `true`, whenever there is a response.
    True = json_schema!({"type": "boolean", "description": "Always `true`."});
}

/// `T` or `null`, where `null` means something.
pub(crate) struct Nullable<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for Nullable<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Nullable_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"oneOf": [generator.subschema_for::<T>(), {"type": "null"}]})
    }
}

/// Makes `Option` stand for a field that may be absent and is never `null`. For structs that only describe; in those
/// that are serialized `skip_serializing_if` says the same.
pub(crate) fn absent_not_null(schema: &mut Schema) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    let optional: Vec<String> = properties
        .iter_mut()
        .filter_map(|(name, property)| forbid_null(property).then(|| name.clone()))
        .collect();
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| !optional.iter().any(|optional| *name == json!(optional)));
        if required.is_empty() {
            schema.remove("required");
        }
    }
}

/// Removes the `null` that `Option` added to a schema. Returns whether there was one.
fn forbid_null(property: &mut Value) -> bool {
    let Some(property) = property.as_object_mut() else {
        return false;
    };
    let null = json!("null");
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|name| *name != null);
        if let [only] = types.as_slice() {
            let only = only.clone();
            property.insert("type".to_owned(), only);
        }
        return true;
    }
    let Some(Value::Array(mut choices)) = property.remove("anyOf") else {
        return false;
    };
    choices.retain(|choice| choice.get("type") != Some(&null));
    if let Some(Value::Object(only)) = choices.pop() {
        property.extend(only);
    }
    true
}

/// Makes a choice exclusive. Some generators of clients take `anyOf` for one object with all the fields.
pub(crate) fn exactly_one(schema: &mut Schema) {
    if let Some(choices) = schema.remove("anyOf") {
        schema.insert("oneOf".to_owned(), choices);
    }
}

/// What JSON Schema allows and generators of clients do not read alike: every integer gets one of the two registered
/// formats, `{}` stands for a schema that is `true`, and each paragraph is on one line, however its comment was wrapped.
pub(crate) fn finish(schema: &mut Schema) {
    schemars::transform::transform_subschemas(&mut finish, schema);
    if schema.as_bool() == Some(true) {
        *schema = Schema::default();
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ").replace("  ", "\n\n");
    }
    if is_integer(schema) {
        let fits_32_bits = schema
            .get("maximum")
            .and_then(Value::as_i64)
            .is_some_and(|maximum| i32::try_from(maximum).is_ok());
        let format = if fits_32_bits { "int32" } else { "int64" };
        schema.insert("format".to_owned(), format.into());
    }
}

fn is_integer(schema: &Schema) -> bool {
    let integer = json!("integer");
    match schema.get("type") {
        Some(Value::Array(types)) => types.contains(&integer),
        Some(only) => *only == integer,
        None => false,
    }
}
