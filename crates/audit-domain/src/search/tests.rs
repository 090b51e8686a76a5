mod properties;

use super::*;

/// An event with up to three texts that a search looks at.
fn with_names<'a>(texts: &[&'a str]) -> Facets<'a> {
    let names = [
        SearchedText::Action,
        SearchedText::ActorName,
        SearchedText::TargetName,
    ];
    let texts = names.into_iter().zip(texts);
    texts.fold(Facets::default(), |facets, (text, value)| {
        facets.with_text(text, *value)
    })
}

fn found(search: &str, texts: &[&str]) -> bool {
    let search = Search::parse(search).unwrap();
    search.matches(&with_names(texts), &[])
}

fn in_scopes(scopes: &[SearchScope], search: &str) -> Search {
    let scopes = scopes.iter().copied().collect();
    Search::parse_in(SearchMode::Words, scopes, search).unwrap()
}

#[test]
fn every_word_must_be_a_word_of_one_of_the_texts() {
    let texts = ["user.role_updated", "Ärzte-Team 42", "Alice O'Neil"];
    for search in [
        "role",
        "ROLE alice",
        "ärzte 42",
        "ali*",
        "o neil",
        "up* al*",
        "alice,team",
    ] {
        assert!(found(search, &texts), "{search}");
    }
    for search in ["rol", "lice", "alice bob", "4*2", "ali**x", "*alic"] {
        assert!(!found(search, &texts), "{search}");
    }
}

#[test]
fn a_name_is_found_as_people_type_it() {
    for (text, search) in [
        ("Jose\u{301}", "José"),
        ("José", "Jose\u{301}"),
        ("Café Müller & López", "cafe muller lopez"),
        ("cafe muller lopez", "CAFÉ Müller Lo\u{301}pez"),
        (
            "Straße Æsir Œuvre Øre Łódź Đorđe Þór",
            "strasse aesir oeuvre ore lodz dorde thor",
        ),
        ("STRASSE", "straße"),
        ("İstanbul Iğdır", "istanbul igdir"),
        ("ΣΊΣΥΦΟΣ", "σισυφος"),
        ("Τσίπρας", "ΤΣΙΠΡΑΣ"),
        ("Алексей", "алексе\u{438}\u{306}"),
        ("Алексе\u{438}\u{306}", "АЛЕКСЕЙ"),
        ("Фёдор", "федор"),
        ("Ｊａｎｅ　Ｄｏｅ ４２", "jane doe 42"),
        ("ﬁnal", "final"),
        ("so\u{ad}ft\u{200b}ware", "software"),
        ("한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"),
        ("ガス", "ｶﾞｽ"),
        ("か\u{3099}く", "がく"),
        ("田中太郎", "太郎"),
        ("田中太郎", "中太郎"),
        ("田中太郎", "中"),
        ("田中太郎", "郎*"),
        ("김철수", "철수"),
        ("2026年3月5日 第3四半期", "2026年3月5日 3月 四半"),
        ("ภาษาไทยง่าย", "ไทย"),
        ("ສະບາຍດີ", "ບາຍ"),
        ("ភាសាខ្មែរ", "ខ្មែរ"),
        ("မြန်မာစာ", "မာစာ"),
        ("サーバー", "バー"),
        ("कर्म", "कर्म"),
        ("राम कुमार", "कुमार राम"),
        ("שלום", "שלום"),
    ] {
        assert!(found(search, &[text]), "{search} in {text}");
    }
}

#[test]
fn other_letters_are_other_words() {
    for (text, search) in [
        ("कर्म", "कर"),
        ("कर्म", "क"),
        ("कि", "की"),
        ("Алексей", "Алексеи"),
        ("がく", "か"),
        ("がく", "か\u{3099}\u{3099}"),
        ("철수", "처"),
        ("田中 太郎", "中太"),
        ("東京 京都", "東京都"),
        ("Müller", "Mueller"),
        ("ひらがな", "ヒラ"),
        ("taro田中", "tar"),
    ] {
        assert!(!found(search, &[text]), "{search} in {text}");
    }
}

#[test]
fn folding_keeps_what_is_folded_for_every_character() {
    let folded = |text: &str| {
        let folded = FoldedText::new(text);
        folded
            .words()
            .map(|word| word.text.to_owned())
            .collect::<Vec<_>>()
    };
    // The planes beyond have only Han.
    for character in ('\0'..='\u{1ffff}').filter(|character| character.is_alphanumeric()) {
        let text = character.to_string();
        let once = folded(&text);
        assert_eq!(folded(&once.join(" ")), once, "U+{:04X}", u32::from(character));
        assert_eq!(
            folded(&text.to_lowercase()),
            once,
            "U+{:04X}",
            u32::from(character)
        );
    }
}

fn in_prefix_mode(search: &str) -> Result<Search, Violations> {
    Search::parse_in(SearchMode::Prefix, Search::DEFAULT_SCOPES.into(), search)
}

#[test]
fn the_last_word_is_a_prefix_where_the_mode_says_so() {
    let found = |search: &str, text: &str| {
        let search = in_prefix_mode(search).unwrap();
        search.matches(&with_names(&[text]), &[])
    };
    for search in [
        "al",
        "ALI",
        "bob alice",
        "alice b",
        "al* b",
        "alice bo.",
        "ali*",
        "bob al bob",
    ] {
        assert_eq!(found(search, "Alice Bob"), search != "bob al bob", "{search}");
    }
    for search in ["lice", "al bob", "alicex", "b alice"] {
        assert!(!found(search, "Alice Bob"), "{search}");
    }
    assert!(found("中", "田中") && found("josé m", "Jose Mú"));
    assert!(in_prefix_mode("a* b").is_ok());
    assert!(in_prefix_mode("a* b* c").is_err());
    assert!(Search::parse("a* b* c").is_ok());
}

#[test]
fn words_in_quotation_marks_follow_each_other_in_one_text() {
    let texts = ["user.role_updated", "Jane User", "Role Model 田中 太郎 2026年"];
    for search in [
        r#""user role""#,
        r#""USER.ROLE" model"#,
        r#"model "role updated""#,
        r#""role upd*""#,
        r#""rol* updated"#,
        "“user role” „jane user“",
        "＂jané user＂",
        r#""jane""#,
        r#""model 田中 太郎 2026 年""#,
        r#""中 太" jane"#,
        r#""role updated" "role model""#,
        r#""" jane"#,
    ] {
        assert!(found(search, &texts), "{search}");
    }
    for search in [
        r#""role user""#,
        r#""user updated""#,
        r#""updated jane""#,
        r#""user rol""#,
        r#""user jane"#,
        r#"jane "model role""#,
        r#""model 田中太郎""#,
        r#""role role""#,
    ] {
        assert!(!found(search, &texts), "{search}");
    }
    assert!(Search::parse(r#""" "!""#).is_err());
    let in_sequence = |search| in_prefix_mode(search).unwrap().matches(&with_names(&texts), &[]);
    assert!(in_sequence(r#""user ro"#) && in_sequence(r#""user ro""#));
    assert!(!in_sequence(r#""us role"#) && !in_sequence(r#""role us"#));
}

#[test]
fn ids_are_found_by_their_words_and_as_a_whole() {
    let uuid = "550E8400-e29b-41d4-a716-446655440000";
    let facets = Facets::default()
        .with_text(SearchedText::ActorName, "Jane")
        .with_text(SearchedText::ActorId, "sha256:00ff")
        .with_text(SearchedText::PartyId, "Acme-17")
        .with_text(SearchedText::TargetId, "INV-2024/001")
        .with_text(SearchedText::FurtherTargetIds, uuid)
        .with_text(SearchedText::FurtherTargetIds, "ticket_0123456789abcdefX")
        .with_text(SearchedText::ActorEmail, "jane.roe@x.com");
    let finds = |scopes: &[SearchScope], search: &str| in_scopes(scopes, search).matches(&facets, &[]);
    let (names, ids, email) = (SearchScope::Names, SearchScope::Ids, SearchScope::Email);
    for search in [
        "INV-2024/001",
        "inv 001",
        "2024*",
        r#""inv 2024""#,
        "acme",
        uuid,
        "ticket_0123456789abcdefX",
        "sha256:00ff acme",
    ] {
        assert!(
            finds(&[ids], search) && !finds(&[names, email], search),
            "{search}"
        );
        assert!(finds(&[names, ids], &format!("{search} jane")), "{search}");
    }
    for search in [
        "550e8400",
        "550e8400-e29b-41d4-a716-446655440000",
        "ticket",
        "jane",
        "202",
        "jane.roe@x.com",
    ] {
        assert!(!finds(&[ids], search), "{search}");
    }
    assert!(finds(&[email], "jane.roe@x.com") && finds(&[names, email], "Jane jane.roe@x.com"));
    for search in ["jane.roe", "JANE.ROE@x.com", "roe", "x.com"] {
        assert!(!finds(&[email], search), "{search}");
    }
    let stored =
        in_scopes(&[ids], "jane@x.com").in_all_forms(|text| [text.to_owned(), "sha256:00ff".to_owned()]);
    assert!(stored.matches(&facets, &[]));
}

#[test]
fn texts_of_the_metadata_are_found_by_their_words() {
    let search = in_scopes(
        &[SearchScope::Names, SearchScope::Metadata],
        r#"jane "reset password""#,
    );
    let facets = with_names(&["a.b", "Jane"]);
    assert!(search.matches(&facets, &["x".to_owned(), "Reset Password!".to_owned()]));
    assert!(!search.matches(&facets, &["reset".to_owned(), "password".to_owned()]));
    assert_eq!(search.lookups(), (Vec::new(), false));
}

#[test]
fn different_searches_have_different_texts() {
    let (names, ids, email) = (SearchScope::Names, SearchScope::Ids, SearchScope::Email);
    assert_eq!(
        in_scopes(&[names], r#"a.b "c" a*"#).to_json(),
        json!([["a", false], ["b", false], ["c", false], ["a", true]])
    );
    let searches = [
        in_scopes(&[names], "a b"),
        in_scopes(&[names], r#""a b""#),
        in_scopes(&[names], r#""b a""#),
        in_scopes(&[ids], "a b"),
        in_scopes(&[ids], "a.b"),
        in_scopes(&[ids], "a-b"),
        in_scopes(&[names, ids], "a b"),
        in_scopes(&[email], "a b"),
        in_scopes(&[email], "A b"),
    ];
    let texts: std::collections::BTreeSet<String> = searches
        .iter()
        .map(|search| search.to_json().to_string())
        .collect();
    assert_eq!(texts.len(), searches.len());
}

#[test]
fn a_mark_alone_is_no_word() {
    for text in [
        "\u{301}", "\u{93f}", "\u{e48}", "\u{3099}", "\u{fe0f}", "\u{200d}",
    ] {
        assert!(Search::parse(text).is_err(), "{}", text.escape_unicode());
    }
}

#[test]
fn a_search_has_words_and_limits() {
    assert!(Search::parse("!!!").is_err());
    assert!(Search::parse("").is_err());
    let different = |words: u32| (0..words).map(|word| format!("w{word} ")).collect::<String>();
    assert!(Search::parse(&different(16)).is_ok());
    assert!(Search::parse(&different(17)).is_err());
    assert_eq!(
        Search::parse(&"a ".repeat(17)).map(|search| search.words().len()),
        Ok(1)
    );
    let repeated = Search::parse(&"a-".repeat(128)).expect("one word");
    assert_eq!(repeated.pieces[0].words.len(), 1);
    let phrase = |words: usize| format!("\"{}\"", "a ".repeat(words));
    assert!(Search::parse(&phrase(16)).is_ok());
    let refused = Err(Violations::one("search", "must have at most 16 words"));
    for search in [
        phrase(17),
        phrase(8) + &phrase(9),
        format!("a-b b-a {}", different(13)),
    ] {
        assert_eq!(Search::parse(&search), refused, "{search}");
    }
    assert!(Search::parse("a* b*").is_ok());
    assert!(Search::parse("a* b* c*").is_err());
    let hindi = "क्षमा प्रार्थना विद्यार्थी कर्म धर्म स्त्री श्रीमती ज्ञान द्वितीय";
    assert_eq!(Search::parse(hindi).map(|search| search.words().len()), Ok(9));
    assert!(Search::parse(&"é".repeat(256)).is_ok());
    assert!(Search::parse(&"é".repeat(257)).is_err());
}
