//! `--log-key-command`: a program that signs with a key that this server does not have.

use crate::programs::{self, ProgramLimits};
use anyhow::{Context, bail};
use audit_app::{SigningProgram, VerifierKey};
use audit_ledger::{Checkpoint, KeyName, Origin, TreeHead};
use clap::Args;
use std::sync::Arc;

/// For one signature.
const LIMITS: ProgramLimits = ProgramLimits {
    seconds_max: 5,
    output_bytes_max: 1_024,
};
const PUBLIC_KEY_BYTES: usize = 32;
const SIGNATURE_BYTES: usize = 64;

/// The options of a key that lives elsewhere.
#[derive(Debug, Default, Args)]
pub struct SigningProgramOptions {
    /// Command that signs what it reads from standard input with an Ed25519 key, such as one in an HSM, and prints the signature: 64
    /// bytes, or the same in hexadecimal.
    #[arg(
        long,
        value_name = "COMMAND",
        env = "AUDIT_LOG_KEY_COMMAND",
        requires = "log_public_key"
    )]
    log_key_command: Option<String>,
    /// Public key of --log-key-command: 32 bytes in hexadecimal.
    #[arg(
        long,
        value_name = "KEY",
        env = "AUDIT_LOG_PUBLIC_KEY",
        requires = "log_key_command"
    )]
    log_public_key: Option<String>,
}

/// The options of the key before it, while both sign.
#[derive(Debug, Default, Args)]
pub struct ProgramBeforeOptions {
    /// Command that signs with the key before the present one, from `log rotate-key` until `log rotate-key --retire`.
    #[arg(
        long,
        value_name = "COMMAND",
        env = "AUDIT_LOG_KEY_COMMAND_BEFORE",
        requires = "log_public_key_before"
    )]
    log_key_command_before: Option<String>,
    /// Public key of --log-key-command-before: 32 bytes in hexadecimal.
    #[arg(
        long,
        value_name = "KEY",
        env = "AUDIT_LOG_PUBLIC_KEY_BEFORE",
        requires = "log_key_command_before"
    )]
    log_public_key_before: Option<String>,
}

impl SigningProgramOptions {
    /// The program, which must sign a test message.
    pub fn program(&self) -> anyhow::Result<Option<Arc<dyn SigningProgram>>> {
        let (command, key) = (self.log_key_command.as_deref(), self.log_public_key.as_deref());
        program(command, key, ["--log-key-command", "--log-public-key"])
    }
}

impl ProgramBeforeOptions {
    /// The program, which must sign a test message.
    pub fn program(&self) -> anyhow::Result<Option<Arc<dyn SigningProgram>>> {
        let command = self.log_key_command_before.as_deref();
        let key = self.log_public_key_before.as_deref();
        program(
            command,
            key,
            ["--log-key-command-before", "--log-public-key-before"],
        )
    }
}

fn program(
    command: Option<&str>,
    key: Option<&str>,
    [of_command, of_key]: [&'static str; 2],
) -> anyhow::Result<Option<Arc<dyn SigningProgram>>> {
    let (Some(command), Some(key)) = (command, key) else {
        return Ok(None);
    };
    let Some(public_key) = read_hex(key, PUBLIC_KEY_BYTES) else {
        bail!("{of_key} must be {PUBLIC_KEY_BYTES} bytes in hexadecimal");
    };
    programs::command(command).context(of_command)?;
    let program = SigningCommand {
        command: command.to_owned(),
        public_key: public_key.try_into().unwrap_or_default(),
    };
    program.test().context(of_command)?;
    Ok(Some(Arc::new(program)))
}

/// A command, started for each signature.
#[derive(Debug)]
struct SigningCommand {
    command: String,
    public_key: [u8; PUBLIC_KEY_BYTES],
}

impl SigningCommand {
    /// Checks that it signs with the given key: the checkpoint of an empty log that is none of a deployment.
    fn test(&self) -> anyhow::Result<()> {
        let name = KeyName::parse("audit-server/test-of-the-signing-command")?;
        let checkpoint = Checkpoint::new(Origin::parse(name.as_str())?, TreeHead::of_empty_tree());
        let signature = self.sign(checkpoint.to_string().as_bytes());
        let signature = signature.map_err(anyhow::Error::msg)?;
        let key = VerifierKey::new(name, self.public_key);
        key.attach(checkpoint, &signature)
            .context("it signs with another key")?;
        Ok(())
    }
}

impl SigningProgram for SigningCommand {
    fn public_key(&self) -> &[u8; PUBLIC_KEY_BYTES] {
        &self.public_key
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        let mut command = programs::command(&self.command).map_err(|error| error.to_string())?;
        let child = command.spawn().map_err(|error| error.to_string())?;
        let output = programs::run(child, message, LIMITS, "--log-key-command")?;
        decode(&output).ok_or_else(|| "it prints no signature of 64 bytes".to_owned())
    }
}

/// A signature: as it is, or in hexadecimal.
fn decode(output: &[u8]) -> Option<Vec<u8>> {
    match output.len() == SIGNATURE_BYTES {
        true => Some(output.to_vec()),
        false => read_hex(std::str::from_utf8(output).ok()?, SIGNATURE_BYTES),
    }
}

/// Bytes of this number in hexadecimal.
fn read_hex(text: &str, length: usize) -> Option<Vec<u8>> {
    let decoded = base16ct::mixed::decode_vec(text.trim()).ok();
    decoded.filter(|bytes| bytes.len() == length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(command: &str) -> SigningCommand {
        SigningCommand {
            command: command.to_owned(),
            public_key: [0; PUBLIC_KEY_BYTES],
        }
    }

    #[test]
    fn a_signature_is_read_in_every_encoding() {
        let text = "0123456789abcdef".repeat(4);
        assert_eq!(
            program("head -c 64").sign(text.as_bytes()),
            Ok(text.clone().into_bytes())
        );
        assert_eq!(
            program(&format!("echo {text}{text}")).sign(b""),
            Ok([0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef].repeat(8))
        );
    }

    #[test]
    fn a_command_that_fails_gives_no_signature() {
        for (command, reason) in [
            ("sh -c 'cat >/dev/null; exit 3'", "exit status: 3"),
            ("cat", "no signature of 64 bytes"),
            ("echo nonsense", "no signature of 64 bytes"),
            ("echo $HOME; true", "no signature of 64 bytes"),
            ("/nonexistent/program", "No such file"),
            ("cat 'a", "quotation mark"),
            ("", "no program"),
        ] {
            let failed = program(command).sign(b"message").expect_err(command);
            assert!(failed.contains(reason), "{command}: {failed}");
        }
    }
}
