use super::*;

fn source<'a>(text: Option<&'a SecretText>, file: Option<&'a Path>, command: Option<&'a str>) -> Source<'a> {
    Source {
        text,
        file,
        command,
        name: "--key",
    }
}

fn of_command(command: &str) -> anyhow::Result<Option<SecretText>> {
    source(None, None, Some(command)).key()
}

fn text(text: &str) -> SecretText {
    SecretText::from(text.to_owned())
}

#[test]
fn a_key_comes_from_a_text_a_file_or_a_program() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for content in ["secret key", "secret key\n", "secret key\r\n"] {
        std::fs::write(file.path(), content).unwrap();
        let read = source(None, Some(file.path()), None).key().unwrap();
        assert_eq!(read, Some(text("secret key")));
    }
    let given = text("secret key");
    assert_eq!(
        source(Some(&given), None, None).key().unwrap(),
        Some(given.clone())
    );
    assert_eq!(of_command("echo 'secret key'").unwrap(), Some(given.clone()));
    assert_eq!(source(None, None, None).key().unwrap(), None);
    let several = [
        source(Some(&given), Some(file.path()), None),
        source(Some(&given), None, Some("echo a")),
        source(None, Some(file.path()), Some("echo a")),
    ];
    for source in several {
        let error = source.key().unwrap_err().to_string();
        assert!(error.contains("give one of them"), "{error}");
    }
}

#[test]
fn a_program_is_started_without_a_shell() {
    assert_eq!(of_command("echo $HOME;id").unwrap(), Some(text("$HOME;id")));
    assert_eq!(of_command("printf '%s' 'a b'").unwrap(), Some(text("a b")));
}

#[test]
fn a_program_that_gives_no_key_says_why() {
    for (command, reason) in [
        ("false", "exit status: 1"),
        ("/nonexistent/program", "No such file"),
        ("true", "the key is empty"),
        ("echo 'a", "quotation mark"),
        ("", "no program"),
        ("head -c 20000 /dev/zero", "more than 16384 bytes"),
        ("printf '\\377'", "not text"),
    ] {
        let error = format!("{:#}", of_command(command).expect_err(command));
        assert!(error.contains(reason), "{command}: {error}");
    }
}

#[test]
fn a_file_that_is_missing_or_too_large_is_named() {
    let error = source(None, Some(Path::new("/nonexistent/key")), None).key();
    let error = format!("{:#}", error.unwrap_err());
    assert!(error.contains("--key-file /nonexistent/key"), "{error}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "a".repeat(16 * 1_024)).unwrap();
    assert!(source(None, Some(file.path()), None).key().is_ok());
    std::fs::write(file.path(), "a".repeat(16 * 1_024 + 1)).unwrap();
    assert!(source(None, Some(file.path()), None).key().is_err());
}

#[test]
fn several_keys_are_separated_by_commas_or_lines() {
    let given = text("a,b");
    assert_eq!(
        source(Some(&given), None, None).keys().unwrap(),
        [text("a"), text("b")]
    );
    let printed = source(None, None, Some("printf 'a,b\\r\\nc\\n'")).keys().unwrap();
    assert_eq!(printed, [text("a,b"), text("c")]);
    for (keys, is_right) in [
        ("a,,b", false),
        ("a,", false),
        ("1,2,3,4,5,6,7,8", true),
        ("1,2,3,4,5,6,7,8,9", false),
    ] {
        let given = text(keys);
        assert_eq!(
            source(Some(&given), None, None).keys().is_ok(),
            is_right,
            "{keys}"
        );
    }
}
