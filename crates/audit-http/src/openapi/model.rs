//! OpenAPI 3.1, as far as the document uses it. Fields are serialized in the order of their declaration.

use schemars::Schema;
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

/// The content type of JSON.
pub(crate) const JSON: &str = "application/json";
/// The content type of JSON lines.
pub(crate) const LINES: &str = "application/x-ndjson";

/// A JSON object whose fields keep their order.
#[derive(Clone, Debug)]
pub(crate) struct Named<T>(pub(crate) Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Named<T> {
    pub(crate) fn one(name: &str, value: T) -> Self {
        Self(vec![(name.to_owned(), value)])
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn push(&mut self, name: impl Into<String>, value: T) {
        self.0.push((name.into(), value));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// A value, or the name of a component.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Or<T> {
    Reference {
        #[serde(rename = "$ref")]
        reference: String,
    },
    Here(T),
}

impl<T> Or<T> {
    /// `kind` is the name of a list in [`Components`].
    pub(crate) fn component(kind: &str, name: &str) -> Self {
        Self::Reference {
            reference: format!("#/components/{kind}/{name}"),
        }
    }
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct Document {
    pub(crate) openapi: &'static str,
    pub(crate) info: Info,
    pub(crate) servers: Vec<Server>,
    pub(crate) tags: Vec<TagInfo>,
    pub(crate) paths: Named<PathItem>,
    pub(crate) webhooks: Named<Or<PathItem>>,
    pub(crate) components: Components,
}

/// Operations by method.
pub(crate) type PathItem = Named<Operation>;

#[derive(Debug, serde::Serialize)]
pub(crate) struct Info {
    pub(crate) title: &'static str,
    pub(crate) version: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) description: &'static str,
    pub(crate) license: License,
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct License {
    pub(crate) name: &'static str,
    pub(crate) identifier: &'static str,
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct Server {
    pub(crate) url: &'static str,
    pub(crate) description: &'static str,
    pub(crate) variables: Named<ServerVariable>,
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct ServerVariable {
    #[serde(rename = "enum", skip_serializing_if = "<[&str]>::is_empty")]
    pub(crate) choices: &'static [&'static str],
    pub(crate) default: &'static str,
    pub(crate) description: &'static str,
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct TagInfo {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
}

#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Operation {
    pub(crate) operation_id: &'static str,
    pub(crate) tags: Vec<&'static str>,
    pub(crate) summary: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) description: &'static str,
    #[serde(rename = "x-additive", skip_serializing_if = "is_false")]
    pub(crate) is_additive: bool,
    pub(crate) security: Vec<Named<[(); 0]>>,
    /// The kinds of credentials that are admitted, by the names of [`SecurityScheme::credentials`].
    #[serde(rename = "x-credentials", skip_serializing_if = "Vec::is_empty")]
    pub(crate) credentials: Vec<&'static str>,
    #[serde(rename = "x-pagination", skip_serializing_if = "Option::is_none")]
    pub(crate) pagination: Option<Pagination>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) parameters: Vec<Or<Parameter>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_body: Option<RequestBody>,
    pub(crate) responses: Named<Or<Response>>,
}

fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    #[serde(rename = "in")]
    pub(crate) place: &'static str,
    pub(crate) required: bool,
    pub(crate) description: String,
    #[serde(rename = "x-additive", skip_serializing_if = "is_false")]
    pub(crate) is_additive: bool,
    pub(crate) schema: Schema,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(crate) example: Value,
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct RequestBody {
    pub(crate) required: bool,
    pub(crate) content: Named<Media>,
}

#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Response {
    pub(crate) description: String,
    #[serde(skip_serializing_if = "Named::is_empty")]
    pub(crate) headers: Named<Or<Header>>,
    #[serde(skip_serializing_if = "Named::is_empty")]
    pub(crate) content: Named<Media>,
    #[serde(skip_serializing_if = "Named::is_empty")]
    pub(crate) links: Named<Link>,
}

/// How a client reads all pages of a list, as the extension `x-pagination`.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Pagination {
    /// The field of a page that holds its items.
    pub(crate) items: String,
    /// The field of a page from which the next one is requested; `null` behind the last page of a list that ends.
    pub(crate) next: &'static str,
    /// The parameter that takes it. All other parameters stay as they were.
    pub(crate) parameter: &'static str,
    /// The field that tells whether there is another page now.
    pub(crate) has_more: &'static str,
}

/// The operation that follows a response.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Link {
    pub(crate) operation_id: &'static str,
    pub(crate) parameters: Named<&'static str>,
    pub(crate) description: &'static str,
}

#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Header {
    pub(crate) description: &'static str,
    pub(crate) required: bool,
    pub(crate) schema: Schema,
    pub(crate) example: Value,
}

#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Media {
    pub(crate) schema: Schema,
    #[serde(skip_serializing_if = "Named::is_empty")]
    pub(crate) examples: Named<Or<Example>>,
}

#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Example {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) summary: String,
    pub(crate) value: Value,
}

#[derive(Debug, Default, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Components {
    pub(crate) schemas: Named<Value>,
    pub(crate) responses: Named<Response>,
    pub(crate) path_items: Named<PathItem>,
    pub(crate) parameters: Named<Parameter>,
    pub(crate) examples: Named<Example>,
    pub(crate) headers: Named<Header>,
    pub(crate) security_schemes: Named<SecurityScheme>,
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct SecurityScheme {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) scheme: &'static str,
    pub(crate) description: &'static str,
    #[serde(rename = "x-credentials")]
    pub(crate) credentials: Named<CredentialInfo>,
}

/// A kind of credential.
#[derive(Debug, serde::Serialize)]
pub(crate) struct CredentialInfo {
    pub(crate) form: &'static str,
    pub(crate) description: &'static str,
}
