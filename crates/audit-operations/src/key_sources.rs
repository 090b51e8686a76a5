//! Keys of the operator: the text itself, or a file or program that has it, such as a mounted secret or a client of a KMS.

use crate::MAIN_HEADING;
use crate::programs::{self, ProgramLimits};
use anyhow::{Context, bail};
use audit_app::{HashKey, KeyRing, SecretText};
use clap::Args;
use std::fs::{File, Metadata};
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

/// The three options of a kind of keys: the text, a file and a program. The names of the last two continue that of the first.
macro_rules! key_source {
    ($name:ident, $option:literal, $variable:literal, $value:literal, $heading:expr, [$text:literal, $file:literal, $command:literal]) => {
        #[derive(Clone, Debug, Default, Args)]
        struct $name {
            #[arg(id = $option, long = $option, value_name = $value, env = $variable, hide_env_values = true, help = $text)]
            text: Option<SecretText>,
            #[arg(
                id = concat!($option, "-file"),
                long = concat!($option, "-file"),
                value_name = "PATH",
                env = concat!($variable, "_FILE"),
                help = $file,
                help_heading = $heading
            )]
            file: Option<PathBuf>,
            #[arg(
                id = concat!($option, "-command"),
                long = concat!($option, "-command"),
                value_name = "COMMAND",
                env = concat!($variable, "_COMMAND"),
                help = $command
            )]
            command: Option<String>,
        }

        impl $name {
            fn source(&self) -> Source<'_> {
                Source {
                    text: self.text.as_ref(),
                    file: self.file.as_deref(),
                    command: self.command.as_deref(),
                    name: concat!("--", $option),
                }
            }
        }
    };
}

/// The heading of the options that `-h` leaves out.
const HEADING: &str = "Keys";

key_source!(
    EncryptionKeySource,
    "encryption-key",
    "AUDIT_ENCRYPTION_KEY",
    "KEY",
    MAIN_HEADING,
    [
        "Encrypts secrets in the database: 32 random bytes in base64 or hexadecimal",
        "File of the key that encrypts secrets in the database",
        "Program with arguments that prints the encryption key"
    ]
);
key_source!(
    PreviousEncryptionKeysSource,
    "encryption-keys-previous",
    "AUDIT_ENCRYPTION_KEYS_PREVIOUS",
    "KEYS",
    HEADING,
    [
        "Other encryption keys that secrets in the database may be encrypted with, separated by commas",
        "File of other encryption keys, one in a line",
        "Program with arguments that prints other encryption keys, one in a line"
    ]
);
key_source!(
    HashKeySource,
    "hash-key",
    "AUDIT_HASH_KEY",
    "KEY",
    MAIN_HEADING,
    [
        "Key of the hashes that redaction writes, and of the digests that tell repeats from conflicts. Without it, short values can be guessed from their hashes; with another one, identifiers get other hashes",
        "File of the key of the hashes that redaction writes",
        "Program with arguments that prints the hash key"
    ]
);
key_source!(
    PreviousHashKeysSource,
    "hash-keys-previous",
    "AUDIT_HASH_KEYS_PREVIOUS",
    "KEYS",
    HEADING,
    [
        "Hash keys that stored hashes may have been made with, separated by commas. Filters find them too",
        "File of other hash keys, one in a line",
        "Program with arguments that prints other hash keys, one in a line"
    ]
);

/// The encryption keys.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = HEADING)]
pub struct EncryptionOptions {
    #[command(flatten)]
    key: EncryptionKeySource,
    #[command(flatten)]
    previous: PreviousEncryptionKeysSource,
    /// Accept secrets in plain text although there is an encryption key, while nodes get it one by one.
    #[arg(long, value_name = "BOOL", env = "AUDIT_ACCEPT_PLAIN_SECRETS", default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    accept_plain_secrets: bool,
    /// Read once, because a program may be slow, or ask a person.
    #[arg(skip)]
    read: OnceLock<KeyRing>,
}

/// The hash keys.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = HEADING)]
pub struct HashKeyOptions {
    #[command(flatten)]
    key: HashKeySource,
    #[command(flatten)]
    previous: PreviousHashKeysSource,
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
        [self.key.file.as_deref(), self.previous.file.as_deref()]
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
        let (current, previous) = (self.key.source(), self.previous.source());
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
        [self.key.file.as_deref(), self.previous.file.as_deref()]
    }

    /// The hash keys of this process.
    pub fn keys(&self) -> anyhow::Result<HashKeys> {
        let previous = self.previous.source().keys()?;
        Ok(HashKeys {
            current: self.key.source().key()?,
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
    warn_of_access(path, &file.metadata()?);
    let mut bytes = Vec::with_capacity(usize::try_from(KEYS_BYTES_MAX)? + 1);
    file.take(KEYS_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    text_of(bytes)
}

/// Warns where others than the owner and the group of a secret file have access to it.
pub(crate) fn warn_of_access(path: &Path, metadata: &Metadata) {
    // Pipes have modes of their own.
    let mode = if metadata.is_file() {
        metadata.permissions().mode()
    } else {
        0
    };
    if mode & 0o004 != 0 {
        log::warn!("every user of the machine can read {}", path.display());
    }
    if mode & 0o022 != 0 {
        log::warn!("other users can replace {}", path.display());
    }
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
mod tests;
