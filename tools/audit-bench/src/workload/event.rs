//! The content of an event before serialization.

use super::random::Random;
use super::template::{KEY, NUMBER, TIME, Template};
use super::vocabulary::{
    ACTION, ACTIONS, ACTOR, ACTOR_TYPE, ACTORS, ADJECTIVES, ActionKind, CATEGORY, CITIES, COMMON_ACTOR_NAME,
    FIRST_NAMES, LAST_NAMES, NOUNS, RARE_ACTOR_NAME, TARGET, TARGET_TYPE, TENANT, TENANTS, USER_AGENTS,
};

/// The values that filters can match, except the time.
#[derive(Debug)]
pub(crate) struct Event {
    tenant: String,
    actor: Actor,
    action: &'static str,
    category: &'static str,
    target: Option<Target>,
}

#[derive(Debug)]
struct Actor {
    id: String,
    kind: &'static str,
    name: String,
}

#[derive(Debug)]
struct Target {
    id: String,
    kind: &'static str,
    name: String,
}

impl Event {
    pub(crate) fn ordinary(random: &mut Random) -> Self {
        let action = draw_action(random);
        Self {
            tenant: draw_tenant(random),
            actor: draw_actor(random),
            action: action.name,
            category: action.category,
            target: draw_target(action, random),
        }
    }

    /// A rare event. Each value is the rare or the common one with equal probability and independently of the others, so
    /// that every pair of filters matches some events.
    pub(crate) fn rare(random: &mut Random) -> Self {
        let mut choose = |values: super::vocabulary::FilterValues| {
            if random.chance(500) {
                values.rare
            } else {
                values.common
            }
        };
        let (tenant, actor, actor_type) = (choose(TENANT), choose(ACTOR), choose(ACTOR_TYPE));
        let (action, category) = (choose(ACTION), choose(CATEGORY));
        let (target, target_type) = (choose(TARGET), choose(TARGET_TYPE));
        let name = if random.chance(500) {
            RARE_ACTOR_NAME
        } else {
            COMMON_ACTOR_NAME
        };
        Self {
            tenant: tenant.to_owned(),
            actor: Actor {
                id: actor.to_owned(),
                kind: actor_type,
                name: name.to_owned(),
            },
            action,
            category,
            target: Some(Target {
                id: target.to_owned(),
                kind: target_type,
                name: draw_title(random),
            }),
        }
    }

    /// Adds context and metadata, and serializes the event. `padding_bytes` of further metadata make a large event.
    pub(crate) fn template(&self, random: &mut Random, padding_bytes: usize) -> Template {
        let mut text = format!(
            r#"{{"action":"{}","category":"{}","tenant_id":"{}","actor":{{"id":"{}","type":"{}","name":"{}""#,
            self.action, self.category, self.tenant, self.actor.id, self.actor.kind, self.actor.name
        );
        // A quarter of the events contain an e-mail address for redaction to find.
        if random.chance(250) {
            let mailbox = self.actor.name.to_lowercase().replace(' ', ".");
            text += &format!(r#","email":"{mailbox}@example.com""#);
        }
        text.push('}');
        if let Some(target) = &self.target {
            text += &format!(
                r#","target":{{"id":"{}","type":"{}","name":"{}"}}"#,
                target.id, target.kind, target.name
            );
        }
        text += &format!(
            r#","context":{{"ip_address":"10.{}.{}.{}","user_agent":"{}","location":"{}","session_id":"s-{:08x}-{NUMBER}"}}"#,
            random.below(256),
            random.below(256),
            random.below(256),
            random.pick(USER_AGENTS),
            random.pick(CITIES),
            random.below(1 << 32),
        );
        text += &format!(
            r#","metadata":{{"request":{{"method":"{}","path":"/v2/{}/{NUMBER}","bytes":{},"ms":{}}},"roles":["member","{}"]{}{}}}"#,
            random.pick(&["GET", "POST", "PUT"]),
            self.action.replace('.', "/"),
            random.below(90_000),
            random.below(900),
            random.pick(&["editor", "owner", "auditor"]),
            sensitive_note(random),
            padding(padding_bytes, random),
        );
        if self.action.ends_with("updated") {
            text += r#","changes":[{"field":"status","before":"draft","after":"published"},{"field":"version","before":41,"after":42}]"#;
        }
        text += &format!(r#","idempotency_key":"{KEY}","occurred_at":"{TIME}"}}"#);
        Template::parse(&text)
    }
}

fn draw_tenant(random: &mut Random) -> String {
    if random.chance(300) {
        return TENANT.common.to_owned();
    }
    format!("tenant_{:04}", random.skewed(TENANTS))
}

/// An actor number always gives the same name and type.
fn draw_actor(random: &mut Random) -> Actor {
    if random.chance(130) {
        return Actor {
            id: ACTOR.common.to_owned(),
            kind: ACTOR_TYPE.common,
            name: COMMON_ACTOR_NAME.to_owned(),
        };
    }
    let number = random.skewed(ACTORS);
    let mut person = Random::new(number);
    let is_key = person.chance(120);
    Actor {
        id: format!("usr_{number:05}"),
        kind: if is_key { "api_key" } else { ACTOR_TYPE.common },
        name: format!("{} {}", person.pick(FIRST_NAMES), person.pick(LAST_NAMES)),
    }
}

fn draw_action(random: &mut Random) -> &'static ActionKind {
    let mut drawn = random.below(1_000);
    let mut actions = ACTIONS.iter();
    let found = actions.find(|action| match drawn.checked_sub(action.permille) {
        Some(rest) => {
            drawn = rest;
            false
        }
        None => true,
    });
    found.unwrap_or(&ACTIONS[0])
}

fn draw_target(action: &ActionKind, random: &mut Random) -> Option<Target> {
    let kind = match action.target_type {
        "" => return None,
        kind => kind,
    };
    // A quarter of the document events concern the same document.
    let id = if kind == TARGET_TYPE.common && random.chance(270) {
        TARGET.common.to_owned()
    } else {
        format!("{kind}_{NUMBER}")
    };
    Some(Target {
        id,
        kind,
        name: draw_title(random),
    })
}

fn draw_title(random: &mut Random) -> String {
    format!("{} {} {NUMBER}", random.pick(ADJECTIVES), random.pick(NOUNS))
}

/// 4 % of the events contain a card number, phone number or bearer token for redaction to find.
fn sensitive_note(random: &mut Random) -> &'static str {
    const NOTES: &[&str] = &[
        r#","note":"customer paid with 4111 1111 1111 1111, see ticket""#,
        r#","note":"call back at +1 415-555-2671 tomorrow""#,
        r#","note":"sent Authorization: Bearer q8Zr31kfPwX0mv72Lh5TdA by mistake""#,
    ];
    if random.chance(40) {
        return random.pick::<&str>(NOTES);
    }
    ""
}

/// A list of strings, each of which redaction scans.
fn padding(bytes: usize, random: &mut Random) -> String {
    if bytes == 0 {
        return String::new();
    }
    let mut text = String::from(r#","lines":["#);
    let separator_at = text.len();
    while text.len() < bytes {
        let (first, second) = (random.pick(ADJECTIVES), random.pick(NOUNS));
        text += &format!(
            r#","{first} {second} of {} {}""#,
            random.pick(CITIES),
            random.below(10_000)
        );
    }
    // The comma before the first string.
    text.remove(separator_at);
    text.push(']');
    text
}
