//! The keys of the deployment.

use super::{Finding, Severity, Subject, finding};
use anyhow::Context;
use audit_app::{SecretState, SecretStatus, secrets_status};
use audit_store::{HeadKeys, inspect};

pub(super) fn keys(subject: &Subject<'_>) -> anyhow::Result<Vec<Finding>> {
    let options = subject.options;
    let mut findings = Vec::new();
    let encryption = options.database.keys()?;
    if encryption.current_id().is_none() {
        findings.push(finding(
            Severity::Warning,
            "there is no encryption key: the secrets in the database are in plain text",
            "set AUDIT_ENCRYPTION_KEY_FILE, and encrypt what is there (docs/configuration.md#introducing-the-key)",
        ));
    }
    if options.hash_keys.keys()?.current.is_none() {
        findings.push(finding(
            Severity::Warning,
            "there is no hash key: short values can be guessed from their hashes",
            "set AUDIT_HASH_KEY_FILE before the first event (docs/configuration.md#limits-and-redaction)",
        ));
    }
    let url = options.database.url()?;
    let stored = inspect(&url, |reader| reader.stored_head_key());
    let stored = stored.with_context(|| format!("cannot read {url}"))?;
    // A new database has none yet, and choosing would create one.
    if stored.id.is_some()
        && let Err(error) = options.database.head_keys()?.choose(&stored)
    {
        findings.push(finding(
            Severity::Error,
            format!("this node cannot use the head key: {error}"),
            "restore the file of the head key, or give the encryption key (docs/configuration.md#the-state-directory)",
        ));
    }
    let secrets = secrets_status(&url, encryption).with_context(|| format!("cannot read {url}"))?;
    findings.extend(of_secrets(&secrets, encryption.current_id().is_some()));
    Ok(findings)
}

fn of_secrets(secrets: &[SecretStatus], is_encrypted: bool) -> Option<Finding> {
    let closed = secrets.iter().filter(|secret| !secret.opens).count();
    if closed > 0 {
        return Some(finding(
            Severity::Error,
            format!(
                "{closed} secrets in the database cannot be opened with the encryption keys of this node"
            ),
            "give the key that encrypted them, as a previous key as well; `audit-server secrets status` lists them",
        ));
    }
    let is_plain = |secret: &&SecretStatus| secret.state == SecretState::Plain;
    let plain = secrets.iter().filter(is_plain).count();
    (plain > 0 && is_encrypted).then(|| {
        finding(
            Severity::Error,
            format!("{plain} secrets are in plain text although there is an encryption key"),
            "`audit-server secrets rewrap --seal-plain`, if the key is new; otherwise another program has written them",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_app::head_key_place;

    #[test]
    fn secrets_that_do_not_open_or_are_plain_are_found() {
        let secret = |state, opens| SecretStatus {
            cell: "home".to_owned(),
            place: head_key_place(),
            state,
            opens,
        };
        let found = |secret: SecretStatus, is_encrypted| {
            of_secrets(&[secret], is_encrypted).map(|finding| finding.problem)
        };
        let plain = || secret(SecretState::Plain, true);
        assert_eq!(found(plain(), false), None);
        assert!(found(plain(), true).unwrap().contains("plain text"));
        assert!(
            found(secret(SecretState::Damaged, false), true)
                .unwrap()
                .contains("cannot be opened")
        );
    }
}
