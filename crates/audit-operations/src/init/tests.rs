use super::*;
use crate::serve_options::ServeOptions;
use clap::{Command, FromArgMatches};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

/// The options of this command line, and no variable of this process.
fn options(words: &[&str]) -> InitOptions {
    let command =
        InitOptions::augment_args(Command::new("init")).mut_args(|argument| argument.env(None::<&str>));
    let mut line = vec!["init"];
    if !words.contains(&"--public-url") {
        line.extend(["--public-url", "https://audit.example.com"]);
    }
    line.extend(words);
    InitOptions::from_arg_matches(&command.get_matches_from(line)).unwrap()
}

fn files() -> Files {
    Files::new(Path::new("/config")).unwrap()
}

/// The settings with these answers, or none to give.
fn settings_with(words: &[&str], answers: Option<&str>) -> anyhow::Result<(Vec<Setting>, String)> {
    let mut questions = Questions {
        input: answers.map(str::as_bytes),
        output: Vec::new(),
    };
    let settings = settings(&options(words), &files(), &mut questions)?;
    Ok((settings, String::from_utf8(questions.output)?))
}

fn refusal(words: &[&str]) -> String {
    format!("{:#}", settings_with(words, None).expect_err("a refusal"))
}

#[test]
fn the_file_has_variables_that_serve_knows_and_values_that_it_takes() {
    let words = [
        "--database-url",
        "postgres://audit@db.example/audit?sslmode=verify-full&sslrootcert=system",
        "--anchor-directory",
        "/tmp",
        "--trusted-proxies",
        "10.0.0.0/8,unix",
    ];
    let serve = ServeOptions::augment_args(Command::new("serve"));
    let known: BTreeMap<_, _> = serve
        .get_arguments()
        .filter_map(|argument| Some((argument.get_env()?.to_str()?, argument.get_long()?)))
        .collect();
    for words in [&words[..], &["--database-url", "sqlite:/data/audit.db"]] {
        let (settings, _) = settings_with(words, None).unwrap();
        let text = environment(&settings).unwrap();
        let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(lines.len(), settings.len(), "{text}");
        let mut line_of_serve = vec!["serve".to_owned()];
        for (line, setting) in lines.into_iter().zip(&settings) {
            let (variable, value) = line.split_once('=').unwrap();
            assert_eq!((variable, value), (setting.variable, setting.value.as_str()));
            line_of_serve.push(format!("--{}={value}", known[variable]));
        }
        serve.clone().try_get_matches_from(line_of_serve).unwrap();
    }
}

#[test]
fn paths_are_absolute_and_what_is_not_answered_has_its_default() {
    let (settings, _) = settings_with(&["--database-url", "sqlite:data/audit.db"], None).unwrap();
    let here = std::path::absolute(".").unwrap();
    let expected = |path: &str| here.join(path).to_str().unwrap().to_owned();
    let of = |variable: &str| value(&settings, variable).map(str::to_owned);
    let database = format!("sqlite:{}", expected("data/audit.db"));
    for (variable, expected) in [
        ("AUDIT_DATABASE_URL", Some(database)),
        ("AUDIT_BACKUP_DIRECTORY", Some(expected("data/backups"))),
        ("AUDIT_STATE_DIR", None),
        (
            "AUDIT_ENCRYPTION_KEY_FILE",
            Some("/config/encryption-key".to_owned()),
        ),
        ("AUDIT_LISTEN", Some("127.0.0.1:8080".to_owned())),
        ("AUDIT_TRUSTED_PROXIES", Some("127.0.0.1".to_owned())),
        ("AUDIT_ANCHOR_DIRECTORY", None),
    ] {
        assert_eq!(of(variable), expected, "{variable}");
    }
    let (settings, _) = settings_with(&["--database-url", "postgres://a@b/c"], None).unwrap();
    assert_eq!(value(&settings, "AUDIT_BACKUP_DIRECTORY"), None);
    assert_eq!(
        value(&settings, "AUDIT_STATE_DIR"),
        Some(expected("audit-data").as_str())
    );
}

#[test]
fn a_value_that_systemd_docker_and_a_shell_read_differently_is_refused() {
    for letter in [" ", "'", "\"", "\\", "`", "$", "#", "*", "\n", "\u{a0}"] {
        let path = format!("sqlite:/data/a{letter}b");
        let (settings, _) = settings_with(&["--database-url", &path], None).unwrap();
        let refused = environment(&settings).unwrap_err().to_string();
        assert!(
            refused.starts_with("--database-url: must not"),
            "{letter:?}: {refused}"
        );
    }
}

#[test]
fn a_wrong_answer_is_refused_with_the_name_of_its_option() {
    for (option, wrong) in [
        ("--database-url", "mysql://a"),
        ("--public-url", "audit.example.com"),
        ("--trusted-proxies", "10.0.0.0/33"),
        ("--anchor-directory", "/nonexistent"),
        ("--tls-certificate", "/nonexistent"),
        ("--listen", "8080"),
        ("--metrics-listen", "unix:"),
    ] {
        let mut words = vec![option, wrong];
        if option == "--tls-certificate" {
            words.extend(["--tls-key", "/nonexistent"]);
        }
        let refused = refusal(&words);
        assert!(refused.starts_with(option), "{option}: {refused}");
    }
    assert!(refusal(&["--tls-certificate", "/c"]).starts_with("--tls-key is required"));
    let postgres = ["--database-url", "postgres://a@b/c", "--backup-directory", "/b"];
    assert!(refusal(&postgres).starts_with("--backup-directory"));
}

#[test]
fn five_questions_are_asked_and_a_wrong_answer_again() {
    let mut options = options(&[]);
    options.public_url = None;
    let answers = "mysql://a\nsqlite:/data/audit.db\n\nhttps://a.example\n\n\n\n";
    let mut questions = Questions {
        input: Some(answers.as_bytes()),
        output: Vec::new(),
    };
    let settings = settings(&options, &files(), &mut questions).unwrap();
    assert_eq!(value(&settings, "AUDIT_PUBLIC_URL"), Some("https://a.example"));
    assert_eq!(value(&settings, "AUDIT_BACKUP_DIRECTORY"), Some("/data/backups"));
    let asked = String::from_utf8(questions.output).unwrap();
    // Two of the five were asked again: a wrong URL, and one that has no default.
    assert_eq!(asked.matches(": ").count(), 7, "{asked}");
    assert!(asked.contains("There is no default."), "{asked}");
    let (_, asked) = settings_with(&[], Some("\n\n\n\n")).unwrap();
    assert!(
        !asked.contains("URL at which"),
        "an option answers its question: {asked}"
    );
    let ended = settings_with(&[], Some("\n")).unwrap_err().to_string();
    assert!(
        ended.starts_with("--tls-certificate: there is no answer"),
        "{ended}"
    );
}

#[test]
fn a_question_without_answer_and_default_names_its_option() {
    let mut options = options(&[]);
    options.public_url = None;
    let mut questions = Questions {
        input: None::<&[u8]>,
        output: Vec::new(),
    };
    let refused = settings(&options, &files(), &mut questions)
        .unwrap_err()
        .to_string();
    assert!(refused.starts_with("--public-url is required"), "{refused}");
}

#[test]
fn the_files_are_private_and_none_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::new(&folder.path().join("new/config")).unwrap();
    let all = [&files.environment, &files.encryption_key, &files.hash_key];
    files.refuse_existing().unwrap();
    files.write("A=b\n").unwrap();
    for path in all {
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    let keys = [&files.encryption_key, &files.hash_key].map(|path| std::fs::read_to_string(path).unwrap());
    assert_ne!(keys[0], keys[1]);
    assert!(keys[0].trim_end().parse::<audit_app::EncryptionKey>().is_ok());
    let entries = std::fs::read_dir(folder.path().join("new/config")).unwrap();
    assert_eq!(entries.count(), all.len());
    for existing in all {
        for other in all {
            std::fs::remove_file(other).ok();
        }
        std::fs::write(existing, "other").unwrap();
        for refused in [files.refuse_existing(), files.write("")] {
            let refused = refused.unwrap_err().to_string();
            assert!(refused.starts_with(existing.to_str().unwrap()), "{refused}");
        }
        assert_eq!(std::fs::read(existing).unwrap(), b"other");
    }
}

#[test]
fn the_next_steps_have_the_file_and_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("audit.db");
    let url = format!("sqlite:{}", database.display());
    let steps = || {
        let (settings, _) = settings_with(&["--database-url", &url], None).unwrap();
        next_steps(&files(), &settings).unwrap()
    };
    let printed = steps();
    assert!(printed.contains("export $(grep ^AUDIT_ /config/audit-server.env)\n  audit-server serve\n"));
    assert!(printed.contains("AUDIT_ANCHOR_DIRECTORY"), "{printed}");
    std::fs::write(&database, "").unwrap();
    assert!(steps().contains("rewrap --seal-plain"));
}
