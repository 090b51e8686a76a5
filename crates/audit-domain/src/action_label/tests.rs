use super::*;
use crate::Violations;

const TABLE: &str = include_str!("../../../../clients/conformance/tables/sentences.json");

fn read(value: Value) -> Result<ActionLabel, Violations> {
    Fields::read(value, ActionLabel::read)
}

#[test]
fn sentences_are_those_of_the_table() {
    let table: Value = serde_json::from_str(TABLE).unwrap();
    let rows = table["filled"].as_array().unwrap();
    assert!(rows.len() >= 15);
    for row in rows {
        let template: SentenceTemplate = row["template"].as_str().unwrap().parse().unwrap();
        let event = row.get("event").unwrap_or(&table["event"]);
        let sentence = template.filled(event.as_object().unwrap());
        assert_eq!(sentence, row["sentence"], "{template}");
    }
    for refused in table["refused"].as_array().unwrap() {
        let refused = refused.as_str().unwrap();
        assert!(refused.parse::<SentenceTemplate>().is_err(), "{refused:?}");
    }
}

#[test]
fn a_template_has_300_characters_and_its_fault_is_named() {
    assert!("é".repeat(300).parse::<SentenceTemplate>().is_ok());
    let fault = |text: &str| text.parse::<SentenceTemplate>().unwrap_err();
    assert_eq!(fault(&"é".repeat(301)), SentenceTemplateError::Length);
    assert_eq!(fault("a\tb"), SentenceTemplateError::Control);
    assert_eq!(fault("{actor} {target"), SentenceTemplateError::Braces);
    assert_eq!(
        fault("{actor} {who}"),
        SentenceTemplateError::Unknown("who".to_owned())
    );
}

#[test]
fn a_language_is_looked_up_without_its_last_parts_and_then_in_english() {
    let label = read(json!({"languages": {
        "en": {"label": "en"}, "de": {"label": "de"}, "pt-BR": {"label": "pt-br"}, "zh-Hant": {"label": "zh-hant"},
    }}))
    .unwrap();
    let found = |tag: &str| {
        label
            .text(&tag.parse().unwrap())
            .map(|text| text.label.to_string())
    };
    for (asked, expected) in [
        ("de", "de"),
        ("de-AT", "de"),
        ("DE-at-x-private", "de"),
        ("pt-br", "pt-br"),
        ("pt", "en"),
        ("zh-Hant-TW", "zh-hant"),
        ("fr", "en"),
    ] {
        assert_eq!(found(asked).as_deref(), Some(expected), "{asked}");
    }
    let german = read(json!({"languages": {"de": {"label": "de"}}})).unwrap();
    assert_eq!(german.text(&"fr".parse().unwrap()), None);
    for text in [
        "",
        "d",
        "12",
        "de_AT",
        "de-",
        "-de",
        "de--at",
        "x-y",
        "überlang",
        "abcdefghi",
    ] {
        assert_eq!(text.parse::<LanguageTag>(), Err(LanguageTagError), "{text}");
    }
    assert!("de-".repeat(12).parse::<LanguageTag>().is_err());
}

#[test]
fn a_label_is_read_back_as_written() {
    let value = json!({"icon": "shield", "languages": {
        "de": {"label": "Rolle geändert", "template": "{actor} hat die Rolle von {target} geändert"},
        "en": {"label": "Role changed"},
    }});
    let label = read(value.clone()).unwrap();
    assert_eq!(label.to_json(), value);
    assert_eq!(read(label.to_json()), Ok(label));
}

#[test]
fn every_fault_of_a_label_is_named() {
    let fields = |value: Value| {
        let found = read(value).unwrap_err().into_vec();
        found
            .into_iter()
            .map(|violation| violation.field)
            .collect::<Vec<_>>()
    };
    assert_eq!(fields(json!({})), ["languages"]);
    assert_eq!(fields(json!({"languages": {}})), ["languages"]);
    let many = |count: usize| {
        let tags = (0..count).map(|number| (format!("en-{number}"), json!({"label": "x"})));
        json!({"languages": tags.collect::<Map<_, _>>()})
    };
    assert!(read(many(16)).is_ok());
    assert_eq!(fields(many(17)), ["languages"]);
    let long = |chars: usize| {
        let text = |template: String| json!({"label": "x", "template": template});
        let full = (0..12).map(|number| (format!("en-{number:02}"), text("x".repeat(280))));
        let last = [("de".to_owned(), text("x".repeat(chars)))];
        json!({"languages": full.chain(last).collect::<Map<_, _>>()})
    };
    let with_1 = read(long(1)).unwrap().to_json().to_string().len();
    let most = ActionLabel::BYTES_MAX - with_1 + 1;
    assert!(read(long(most)).is_ok());
    assert_eq!(fields(long(most + 1)), ["languages"]);
    let all = json!({"icon": "<svg>", "colour": 1, "languages": {
        "en": {"label": "", "template": "{who}", "html": "x"}, "deutsch!": {"label": "x"}, "fr": {"label": "a\nb"}, "it": 7,
    }});
    let mut found = fields(all);
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "colour",
            "icon",
            "languages.deutsch!",
            "languages.en.html",
            "languages.en.label",
            "languages.en.template",
            "languages.fr.label",
            "languages.it"
        ]
    );
    assert_eq!(
        fields(json!({"languages": {"en": {"label": "x"}, "EN": {"label": "y"}}})).len(),
        1
    );
}
