use audit_tests::{Client, DatabaseKind, Organization, event, event_with, on_both_databases};
use serde_json::json;

/// A project with one event that is searched for, and one that no query here finds.
fn project(database: DatabaseKind) -> (Client, String) {
    let project = Organization::fresh(database).project();
    let id = project.store(event_with(json!({
        "action": "user.password_reset",
        "tenant_id": "tenantword",
        "actor": {"id": "actorword", "name": "Alice Müller-Straße O'Brien", "email": "emailword"},
        "target": {"id": "targetword", "type": "typeword", "name": "Отчёт 2026 日本語 Ünïcode"},
        "metadata": {"note": "metadataword"},
        "context": {"location": "contextword"},
    })));
    project.store(event_with(json!({"actor": {"name": "Somebody Else"}})));
    (project, id)
}

on_both_databases! {
    words_of_action_and_names_are_found_in_any_case,
    names_are_found_as_people_type_them,
    a_star_ends_the_beginning_of_a_word,
    the_last_word_is_a_prefix_in_that_mode,
    words_in_quotation_marks_are_a_phrase,
    ids_are_found_where_the_search_looks_for_them,
    an_e_mail_address_is_found_as_a_whole,
    redacted_ids_are_found_by_the_original,
    texts_of_the_metadata_are_found_where_the_search_looks_for_them,
    a_search_in_something_unknown_is_refused,
    a_cursor_belongs_to_where_the_search_looks,
    parts_of_words_and_other_fields_are_not_found,
    every_word_must_be_there,
    the_syntax_of_search_engines_means_nothing,
    events_stored_later_are_found_at_once,
    redacted_words_are_not_found,
    very_long_queries_are_answered,
}

fn words_of_action_and_names_are_found_in_any_case(database: DatabaseKind) {
    let (project, id) = project(database);
    let queries = [
        "alice",
        "ALICE",
        "password",
        "reset",
        "password_reset",
        "user.password_reset",
        "2026",
        "müller",
        "MÜLLER",
        "muller",
        "strasse",
        "unicode",
        "straße",
        "brien",
        "o'brien",
        "отчёт",
        "ОТЧЁТ",
        "日本語",
        "ÜNÏCODE",
        "alice 2026",
        "2026,alice;reset",
        "  alice  ",
        "reset alice отчёт",
        "alice alice",
    ];
    for query in queries {
        let found = project.find_ids(&[("search", query), ("actor_id", "actorword")]);
        assert_eq!(found, std::slice::from_ref(&id), "{query:?}");
    }
}

/// Names of actors, as they are stored.
const NAMES: [&str; 15] = [
    "Jose\u{301}",
    "José",
    "Café Müller",
    "Ana López",
    "Straße Łódź",
    "Алексей",
    "ΣΊΣΥΦΟΣ",
    "ｶﾞｽ",
    "कर्म",
    "कर",
    "क्षमा प्रार्थना विद्यार्थी कर्म धर्म स्त्री श्रीमती ज्ञान द्वितीय",
    "田中太郎",
    "太田 郎",
    "김철수",
    "ภาษาไทยง่าย",
];

/// What people type, and where in [`NAMES`] the names are that it finds.
const TYPED: [(&str, &[usize]); 26] = [
    ("José", &[0, 1]),
    ("jose\u{301}", &[0, 1]),
    ("JOSE", &[0, 1]),
    ("cafe", &[2]),
    ("muller", &[2]),
    ("mu\u{308}ller", &[2]),
    ("lopez", &[3]),
    ("strasse lodz", &[4]),
    ("алексе\u{438}\u{306}", &[5]),
    ("алексеи", &[]),
    ("σίσυφος", &[6]),
    ("ガス", &[7]),
    ("カ", &[]),
    ("कर", &[9]),
    ("कर्म", &[8, 10]),
    (NAMES[10], &[10]),
    ("太郎", &[11]),
    ("中太郎", &[11]),
    ("田中太郎", &[11]),
    ("郎", &[11, 12]),
    ("田 太 郎", &[11, 12]),
    ("太郎中", &[]),
    ("철수", &[13]),
    ("\u{110e}\u{1165}\u{11af}\u{1109}\u{116e}", &[13]),
    ("ไทย", &[14]),
    ("ง่าย", &[14]),
];

fn names_are_found_as_people_type_them(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let events = NAMES.map(|name| event_with(json!({"actor": {"name": name}})));
    let ids = project.store_all(events.into());
    for (typed, names) in TYPED {
        let mut found = project.find_ids(&[("search", typed)]);
        found.sort_unstable();
        let mut expected: Vec<&String> = names.iter().map(|name| &ids[*name]).collect();
        expected.sort_unstable();
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{typed}");
        let summary = project
            .get("/events/summary")
            .query("search", typed)
            .send()
            .expect_status(200);
        assert_eq!(summary.body()["total"], names.len(), "{typed}");
    }
}

fn a_star_ends_the_beginning_of_a_word(database: DatabaseKind) {
    let (project, id) = project(database);
    for query in [
        "ali*",
        "ALI*",
        "alice*",
        "pass* res*",
        "202*",
        "mül*",
        "ünï*",
        "отч*",
        "日*",
        "a* b*",
        "alice 20*",
    ] {
        let found = project.find_ids(&[("search", query), ("actor_id", "actorword")]);
        assert_eq!(found, std::slice::from_ref(&id), "{query:?}");
    }
}

fn the_last_word_is_a_prefix_in_that_mode(database: DatabaseKind) {
    let (project, id) = project(database);
    let find = |search, mode| project.find_ids(&[("search", search), ("search_mode", mode)]);
    for (search, as_prefix, as_words) in [
        ("ali", true, false),
        ("ALICE mul", true, false),
        ("pass* re", true, false),
        ("alice o'brien", true, true),
        ("日本", true, true),
        ("ali password", false, false),
        ("lice", false, false),
    ] {
        let expected = |is_found| if is_found { vec![id.clone()] } else { Vec::new() };
        assert_eq!(find(search, "prefix"), expected(as_prefix), "{search}");
        assert_eq!(find(search, "words"), expected(as_words), "{search}");
    }
    for (search, mode, field) in [("ali", "fuzzy", "search_mode"), ("a* b* c", "prefix", "search")] {
        let request = project
            .get("/events")
            .query("search", search)
            .query("search_mode", mode);
        request.send().expect_invalid(&[field]);
    }
}

/// The ids that the list finds. The export and the summary must find as many.
fn found_in(project: &Client, scopes: &[&str], search: &str) -> Vec<String> {
    let scopes = scopes.iter().map(|scope| ("search_in", *scope));
    let parameters: Vec<(&str, &str)> = std::iter::once(("search", search)).chain(scopes).collect();
    let found = project.find_ids(&parameters);
    let summary = project.get("/events/summary").queries(&parameters).send();
    let summary = summary.expect_status(200);
    assert_eq!(summary.body()["total"], found.len(), "{parameters:?}");
    let exported = project.get("/events/export").queries(&parameters).send_raw();
    let lines = exported
        .bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    assert_eq!(lines.count(), found.len(), "{parameters:?}");
    found
}

fn words_in_quotation_marks_are_a_phrase(database: DatabaseKind) {
    let (project, id) = project(database);
    for search in [
        "\"password reset\"",
        "\"user.password\" brien",
        "brien \"müller strasse",
        "“o'brien” „ALICE muller“",
        "\"ünïcode\"",
        "\"2026 日本\"",
        "\"pass* reset\"",
    ] {
        assert_eq!(
            found_in(&project, &[], search),
            std::slice::from_ref(&id),
            "{search}"
        );
    }
    for search in [
        "\"reset password\"",
        "\"user reset\"",
        "\"reset alice\"",
        "\"alice brien\"",
        "alice \"password alice\"",
        "\"password res\"",
    ] {
        assert_eq!(found_in(&project, &[], search), Vec::<String>::new(), "{search}");
    }
    for unclosed in ["\"password res", "\"password res\""] {
        let found = project.find_ids(&[("search", unclosed), ("search_mode", "prefix")]);
        assert_eq!(found, std::slice::from_ref(&id), "{unclosed}");
    }
}

/// An id that is too long to have words.
const UUID: &str = "550e8400-e29b-41d4-a716-446655440000";

fn ids_are_found_where_the_search_looks_for_them(database: DatabaseKind) {
    let (project, _) = project(database);
    let target = json!({"id": "INV-2024/001", "type": "invoice", "name": "Paper"});
    let id = project.store(event_with(json!({
        "actor": {"id": "Agent-77", "name": "Rita", "on_behalf_of": {"id": "boss_9", "type": "user"}},
        "target": target,
        "targets": [target, {"id": UUID, "type": "invoice"}],
    })));
    for search in [
        "INV-2024/001",
        "inv 001",
        "2024*",
        "\"inv 2024\"",
        "agent",
        "boss_9",
        UUID,
        "agent-77 boss 001",
    ] {
        assert_eq!(
            found_in(&project, &["ids"], search),
            std::slice::from_ref(&id),
            "{search}"
        );
        let with_name = format!("{search} rita");
        let found = found_in(&project, &["ids", "names"], &with_name);
        assert_eq!(found, std::slice::from_ref(&id), "{with_name}");
        assert_eq!(found_in(&project, &["ids"], &with_name), Vec::<String>::new());
        assert_eq!(found_in(&project, &[], search), Vec::<String>::new(), "{search}");
    }
    for search in ["550e8400", "202", "rita", "paper", "\"2024 inv\"", "\"001 boss\""] {
        assert_eq!(
            found_in(&project, &["ids"], search),
            Vec::<String>::new(),
            "{search}"
        );
    }
    let typed = [
        ("search", "inv-20"),
        ("search_mode", "prefix"),
        ("search_in", "ids"),
    ];
    assert_eq!(project.find_ids(&typed), [id]);
}

fn an_e_mail_address_is_found_as_a_whole(database: DatabaseKind) {
    let (project, id) = project(database);
    assert_eq!(
        found_in(&project, &["email"], "emailword"),
        std::slice::from_ref(&id)
    );
    assert_eq!(found_in(&project, &["email", "names"], "Alice emailword"), [id]);
    for search in ["email*", "Emailword", "alice"] {
        assert_eq!(
            found_in(&project, &["email"], search),
            Vec::<String>::new(),
            "{search}"
        );
    }
}

fn redacted_ids_are_found_by_the_original(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let address = "john.doe@example.com";
    let of_actor = project.store(event_with(json!({"actor": {"id": address, "name": "J"}})));
    let second = json!([{"id": "t", "type": "doc"}, {"id": address, "type": "user"}]);
    let of_target = project.store(event_with(
        json!({"targets": second, "actor": {"id": "other", "email": address}}),
    ));
    assert_eq!(
        found_in(&project, &["ids"], address),
        [of_target, of_actor.clone()]
    );
    assert_eq!(
        found_in(&project, &["ids", "names"], &format!("j {address}")),
        [of_actor]
    );
    // What was replaced by `[REDACTED]` is stored nowhere.
    assert_eq!(found_in(&project, &["email"], address), Vec::<String>::new());
}

fn texts_of_the_metadata_are_found_where_the_search_looks_for_them(database: DatabaseKind) {
    let (project, first) = project(database);
    let nested = json!({"a": {"b": ["Reset requested", 17]}, "alice": true});
    let second = project.store(event_with(json!({"metadata": nested, "actor": {"id": "x"}})));
    for (scopes, search, expected) in [
        (&["metadata"][..], "metadataword", vec![&first]),
        (&["metadata"], "\"reset req*\"", vec![&second]),
        (&["metadata"], "alice", vec![]),
        (&["metadata"], "17", vec![]),
        (&["metadata", "names"], "alice metadataword", vec![&first]),
        (&["metadata", "names"], "reset", vec![&second, &first]),
        (&["names"], "requested", vec![]),
    ] {
        let found = found_in(&project, scopes, search);
        assert_eq!(
            found.iter().collect::<Vec<_>>(),
            expected,
            "{search} in {scopes:?}"
        );
    }
}

fn a_search_in_something_unknown_is_refused(database: DatabaseKind) {
    let (project, _) = project(database);
    let repeated = [("search_in", "ids"); 5];
    for scopes in [
        &[("search_in", "title")][..],
        &[("search_in", "names,ids")],
        &[("search_in", "")],
        &repeated,
    ] {
        for path in ["/events", "/events/summary", "/events/export"] {
            let request = project.get(path).query("search", "alice").queries(scopes);
            request.send().expect_invalid(&["search_in"]);
        }
    }
    assert_eq!(found_in(&project, &["names", "names"], "alice").len(), 1);
    let of_feed = project.get("/events/feed").query("search_in", "ids").send();
    of_feed.expect_invalid(&["search_in"]);
}

fn a_cursor_belongs_to_where_the_search_looks(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for number in 0..3 {
        project.store(event_with(
            json!({"actor": {"id": format!("jane-{number}"), "name": "Jane"}}),
        ));
    }
    let of_names = [("search", "jane"), ("limit", "1")];
    let cursor = project
        .get("/events")
        .queries(&of_names)
        .send()
        .expect_status(200)
        .body()["cursor"]
        .clone();
    let cursor = cursor.as_str().expect("a cursor");
    let next = |parameters: &[(&str, &str)]| {
        let request = project.get("/events").query("limit", "1").query("cursor", cursor);
        request.queries(parameters).send()
    };
    next(&[("search", "jane")]).expect_status(200);
    next(&[("search", "jane"), ("search_in", "names")]).expect_status(200);
    for other in [
        &[("search", "jane"), ("search_in", "ids")][..],
        &[("search", "jane"), ("search_in", "names"), ("search_in", "ids")],
        &[("search", "jane"), ("search_mode", "prefix")],
    ] {
        next(other).expect_invalid(&["cursor"]);
    }
}

fn parts_of_words_and_other_fields_are_not_found(database: DatabaseKind) {
    let (project, _) = project(database);
    let queries = [
        "ali",
        "lice",
        "passwor",
        "mueller",
        "ull*",
        "lice*",
        "alice bob",
        "alice nobody*",
        "alices",
        "alices*",
        "tenantword",
        "actorword",
        "emailword",
        "targetword",
        "typeword",
        "metadataword",
        "contextword",
        "mutation",
    ];
    for query in queries {
        assert_eq!(
            project.find_ids(&[("search", query)]),
            Vec::<String>::new(),
            "{query:?}"
        );
    }
}

fn every_word_must_be_there(database: DatabaseKind) {
    let (project, id) = project(database);
    assert_eq!(project.find_ids(&[("search", "alice reset 2026")]), [id]);
    assert_eq!(
        project.find_ids(&[("search", "alice else")]),
        Vec::<String>::new()
    );
    assert_eq!(project.find(&[("search", "user")]).len(), 2);
}

fn the_syntax_of_search_engines_means_nothing(database: DatabaseKind) {
    let (project, id) = project(database);
    let found = [
        "\"alice\"",
        "alice)",
        "(alice",
        "alice'",
        "alice\\",
        "-alice",
        "^alice",
        "alice:",
        "+alice&",
        "alice | -",
    ];
    for query in found {
        assert_eq!(
            project.find_ids(&[("search", query)]),
            std::slice::from_ref(&id),
            "{query:?}"
        );
    }
    let not_found = [
        "alice OR else",
        "alice NOT bob",
        "NEAR(alice reset)",
        "name:alice",
        "alice';drop table events;--",
        "alice || else",
        "al%ce",
        "alic_",
        "_lice",
        "!bob alice",
        "alice <-> else",
    ];
    for query in not_found {
        assert_eq!(
            project.find_ids(&[("search", query)]),
            Vec::<String>::new(),
            "{query:?}"
        );
    }
}

fn events_stored_later_are_found_at_once(database: DatabaseKind) {
    let (project, first) = project(database);
    let second = project.store(event_with(json!({"actor": {"name": "Alice"}})));
    assert_eq!(project.find_ids(&[("search", "alice")]), [second, first]);
}

fn redacted_words_are_not_found(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    project.store(event_with(
        json!({"actor": {"name": "Jane jane.roe@example.com"}}),
    ));
    assert_eq!(project.find(&[("search", "jane")]).len(), 1);
    assert_eq!(project.find(&[("search", "roe")]).len(), 0);
    assert_eq!(project.find(&[("search", "redacted")]).len(), 1);
}

fn very_long_queries_are_answered(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    project.store(event());
    let words = "user created ".repeat(100);
    let status = project
        .get("/events")
        .query("search", words.trim())
        .send()
        .status();
    assert!(matches!(status, 200 | 400), "{status}");
    let word = "x".repeat(1_000);
    let status = project.get("/events").query("search", &word).send().status();
    assert!(matches!(status, 200 | 400), "{status}");
}
