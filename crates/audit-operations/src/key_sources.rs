//! Keys of the operator: the text itself, or a file or program that has it, such as a mounted secret or a client of a KMS.

use crate::MAIN_HEADING;
use crate::programs::{self, ProgramLimits};
use anyhow::{Context, bail};
use audit_app::{HashKey, KeyRing, SecretText};
use clap::Args;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Previous keys of one kind. Each hash key adds a form to every filter for an identifier.
const PREVIOUS_KEYS_MAX: usize = 8;
/// Bytes of a file, or of what a program prints.
const KEYS_BYTES_MAX: u64 = 16 * 1_024;
/// A program may ask another machine.
const PROGRAM_SECONDS_MAX: u64 = 30;

/// The encryption keys.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Keys")]
pub struct EncryptionOptions {
    /// Encrypts secrets in the database: 32 random bytes in base64 or hexadecimal.
    #[arg(
        long,
        value_name = "KEY",
        env = "AUDIT_ENCRYPTION_KEY",
        hide_env_values = true
    )]
    encryption_key: Option<SecretText>,
    /// File of the key that encrypts secrets in the database.
    #[arg(long, value_name = "PATH", env = "AUDIT_ENCRYPTION_KEY_FILE", help_heading = MAIN_HEADING)]
    encryption_key_file: Option<PathBuf>,
    /// Program with arguments that prints the encryption key.
    #[arg(long, value_name = "COMMAND", env = "AUDIT_ENCRYPTION_KEY_COMMAND")]
    encryption_key_command: Option<String>,
    /// Other encryption keys that secrets in the database may be encrypted with, separated by commas.
    #[arg(
        long,
        value_name = "KEYS",
        env = "AUDIT_ENCRYPTION_KEYS_PREVIOUS",
        hide_env_values = true
    )]
    encryption_keys_previous: Option<SecretText>,
    /// File of these keys, one in a line.
    #[arg(long, value_name = "PATH", env = "AUDIT_ENCRYPTION_KEYS_PREVIOUS_FILE")]
    encryption_keys_previous_file: Option<PathBuf>,
    /// Program with arguments that prints these keys, one in a line.
    #[arg(long, value_name = "COMMAND", env = "AUDIT_ENCRYPTION_KEYS_PREVIOUS_COMMAND")]
    encryption_keys_previous_command: Option<String>,
    /// Accept secrets in plain text although there is an encryption key, while nodes get it one by one.
    #[arg(long, value_name = "BOOL", env = "AUDIT_ACCEPT_PLAIN_SECRETS", default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    accept_plain_secrets: bool,
    /// Read once, because a program may be slow, or ask a person.
    #[arg(skip)]
    read: OnceLock<KeyRing>,
}

/// The hash keys.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Keys")]
pub struct HashKeyOptions {
    /// Key of the hashes that redaction writes. Without it, short values can be guessed from their hashes.
    #[arg(long, value_name = "KEY", env = "AUDIT_HASH_KEY", hide_env_values = true)]
    hash_key: Option<SecretText>,
    /// File of the key of the hashes that redaction writes.
    #[arg(long, value_name = "PATH", env = "AUDIT_HASH_KEY_FILE", help_heading = MAIN_HEADING)]
    hash_key_file: Option<PathBuf>,
    /// Program with arguments that prints the hash key.
    #[arg(long, value_name = "COMMAND", env = "AUDIT_HASH_KEY_COMMAND")]
    hash_key_command: Option<String>,
    /// Hash keys that stored hashes may have been made with, separated by commas. Filters find them too.
    #[arg(
        long,
        value_name = "KEYS",
        env = "AUDIT_HASH_KEYS_PREVIOUS",
        hide_env_values = true
    )]
    hash_keys_previous: Option<SecretText>,
    /// File of these keys, one in a line.
    #[arg(long, value_name = "PATH", env = "AUDIT_HASH_KEYS_PREVIOUS_FILE")]
    hash_keys_previous_file: Option<PathBuf>,
    /// Program with arguments that prints these keys, one in a line.
    #[arg(long, value_name = "COMMAND", env = "AUDIT_HASH_KEYS_PREVIOUS_COMMAND")]
    hash_keys_previous_command: Option<String>,
}

/// The hash keys of a process.
#[derive(Debug, Default)]
pub struct HashKeys {
    pub current: Option<SecretText>,
    pub previous: Vec<HashKey>,
}

/// The three ways in which keys are given, of which one may be used.
struct Source<'a> {
    text: Option<&'a SecretText>,
    file: Option<&'a Path>,
    command: Option<&'a str>,
    /// The name of the option with the text; those of the others continue it.
    name: &'static str,
}

impl EncryptionOptions {
    /// The files that keys are read from.
    pub fn files(&self) -> [Option<&Path>; 2] {
        [
            self.encryption_key_file.as_deref(),
            self.encryption_keys_previous_file.as_deref(),
        ]
    }

    /// The encryption keys of this process.
    pub fn keys(&self) -> anyhow::Result<&KeyRing> {
        if let Some(keys) = self.read.get() {
            return Ok(keys);
        }
        let keys = self.read_keys()?;
        Ok(self.read.get_or_init(|| keys))
    }

    fn read_keys(&self) -> anyhow::Result<KeyRing> {
        let current = Source {
            text: self.encryption_key.as_ref(),
            file: self.encryption_key_file.as_deref(),
            command: self.encryption_key_command.as_deref(),
            name: "--encryption-key",
        };
        let previous = Source {
            text: self.encryption_keys_previous.as_ref(),
            file: self.encryption_keys_previous_file.as_deref(),
            command: self.encryption_keys_previous_command.as_deref(),
            name: "--encryption-keys-previous",
        };
        let previous_keys = previous.keys()?;
        let Some(current_key) = current.key()? else {
            if !previous_keys.is_empty() {
                bail!("{} needs {}", previous.name, current.name);
            }
            return Ok(KeyRing::default());
        };
        let current_key = current_key.as_str().parse().context(current.name)?;
        let others = previous_keys.iter().map(|key| key.as_str().parse());
        let others = others.collect::<Result<Vec<_>, _>>().context(previous.name)?;
        let keys = KeyRing::new(current_key, others).context(previous.name)?;
        if !self.accept_plain_secrets {
            return Ok(keys);
        }
        log::warn!(
            "secrets in plain text are accepted: run `audit-server secrets rewrap --seal-plain`, and remove --accept-plain-secrets"
        );
        Ok(keys.accepting_plain())
    }
}

impl HashKeyOptions {
    /// The files that keys are read from.
    pub fn files(&self) -> [Option<&Path>; 2] {
        [
            self.hash_key_file.as_deref(),
            self.hash_keys_previous_file.as_deref(),
        ]
    }

    /// The hash keys of this process.
    pub fn keys(&self) -> anyhow::Result<HashKeys> {
        let current = Source {
            text: self.hash_key.as_ref(),
            file: self.hash_key_file.as_deref(),
            command: self.hash_key_command.as_deref(),
            name: "--hash-key",
        };
        let previous = Source {
            text: self.hash_keys_previous.as_ref(),
            file: self.hash_keys_previous_file.as_deref(),
            command: self.hash_keys_previous_command.as_deref(),
            name: "--hash-keys-previous",
        };
        let previous = previous.keys()?;
        Ok(HashKeys {
            current: current.key()?,
            previous: previous.iter().map(hash_key).collect(),
        })
    }
}

/// The key of hashes with this text.
pub(crate) fn hash_key(text: &SecretText) -> HashKey {
    HashKey::new(text.as_str().as_bytes().to_vec())
}

impl Source<'_> {
    /// A single key.
    fn key(&self) -> anyhow::Result<Option<SecretText>> {
        let Some(text) = self.read()? else {
            return Ok(None);
        };
        let key = text.as_str().trim_end_matches(['\r', '\n']);
        if key.is_empty() {
            bail!("{}: the key is empty", self.name);
        }
        Ok(Some(SecretText::from(key.to_owned())))
    }

    /// Keys that are separated by commas in the text, and by ends of lines in a file.
    fn keys(&self) -> anyhow::Result<Vec<SecretText>> {
        let Some(text) = self.read()? else {
            return Ok(Vec::new());
        };
        let text = text.as_str().trim_end_matches(['\r', '\n']);
        let separator = if self.text.is_some() { ',' } else { '\n' };
        let keys = text.split(separator).map(|key| key.trim_end_matches('\r'));
        let keys: Vec<SecretText> = keys.map(|key| SecretText::from(key.to_owned())).collect();
        if keys.iter().any(|key| key.as_str().is_empty()) {
            bail!("{}: a key is empty", self.name);
        }
        if keys.len() > PREVIOUS_KEYS_MAX {
            bail!("{}: there are more than {PREVIOUS_KEYS_MAX} keys", self.name);
        }
        Ok(keys)
    }

    fn read(&self) -> anyhow::Result<Option<SecretText>> {
        let name = self.name;
        match (self.text, self.file, self.command) {
            (None, None, None) => Ok(None),
            (Some(text), None, None) => Ok(Some(text.clone())),
            (None, Some(file), None) => {
                let read = read_file(file).with_context(|| format!("{name}-file {}", file.display()))?;
                Ok(Some(read))
            }
            (None, None, Some(command)) => {
                let printed = output_of(command).with_context(|| format!("{name}-command"))?;
                Ok(Some(printed))
            }
            _ => bail!("{name}, {name}-file and {name}-command: give one of them"),
        }
    }
}

/// The text of a file of keys. Others may have access to it where it is mounted by an orchestrator, so that is no error.
fn read_file(path: &Path) -> anyhow::Result<SecretText> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    // Pipes have modes of their own.
    let mode = if metadata.is_file() {
        metadata.permissions().mode()
    } else {
        0
    };
    if mode & 0o004 != 0 {
        log::warn!("every user of the machine can read the key in {}", path.display());
    }
    if mode & 0o022 != 0 {
        log::warn!("other users can replace the key in {}", path.display());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(KEYS_BYTES_MAX)? + 1);
    file.take(KEYS_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    text_of(bytes)
}

/// What a program prints.
fn output_of(command: &str) -> anyhow::Result<SecretText> {
    let mut command = programs::command(command)?;
    let program = command.get_program().to_string_lossy().into_owned();
    let child = command.spawn().with_context(|| program.clone())?;
    let limits = ProgramLimits {
        seconds_max: PROGRAM_SECONDS_MAX,
        output_bytes_max: KEYS_BYTES_MAX + 1,
    };
    let output = programs::run(child, &[], limits, "the command of a key");
    text_of(output.map_err(anyhow::Error::msg).context(program)?)
}

fn text_of(bytes: Vec<u8>) -> anyhow::Result<SecretText> {
    let length = bytes.len() as u64;
    // The error has the bytes.
    let text = String::from_utf8(bytes).ok().map(SecretText::from);
    let text = text.context("the key is not text")?;
    if length > KEYS_BYTES_MAX {
        bail!("more than {KEYS_BYTES_MAX} bytes");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source<'a>(
        text: Option<&'a SecretText>,
        file: Option<&'a Path>,
        command: Option<&'a str>,
    ) -> Source<'a> {
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
}
