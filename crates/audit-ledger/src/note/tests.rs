use super::*;
use crate::SigningKey;

const TEXT: &str =
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
/// A note and its key from the tests of Go's `golang.org/x/mod/sumdb/note`.
const PETER: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const PETERS_LINE: &str = "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

fn peter() -> VerifierKey {
    PETER.parse().unwrap()
}

fn signing_key(name: &str, seed: u8) -> SigningKey {
    SigningKey::from_seed(KeyName::parse(name).unwrap(), &[seed; 32]).unwrap()
}

fn verify(note: &str, keys: &[VerifierKey]) -> Result<String, NoteError> {
    SignedNote::parse(note)?.verify(keys).map(str::to_owned)
}

#[test]
fn a_note_signed_by_go_is_verified() {
    let note = format!("{TEXT}\n{PETERS_LINE}");
    assert_eq!(verify(&note, &[peter()]), Ok(TEXT.to_owned()));
}

#[test]
fn the_text_ends_at_the_last_empty_line() {
    let key = signing_key("a", 1);
    let text = "one\n\ntwo\n";
    let note = format!("{text}\n{}", key.signature_line(text));
    assert_eq!(verify(&note, &[key.verifier().clone()]), Ok(text.to_owned()));
}

#[test]
fn signatures_by_unknown_keys_are_ignored() {
    let (known, namesake, stranger) = (signing_key("a", 1), signing_key("a", 2), signing_key("b", 3));
    let lines = [&namesake, &stranger, &known].map(|key| key.signature_line(TEXT));
    let note = format!("{TEXT}\n{}— {} AAAAAAA=\n", lines.concat(), "long".repeat(100));
    let keys = [known.verifier().clone(), peter()];
    assert_eq!(verify(&note, &keys), Ok(TEXT.to_owned()));
    assert_eq!(verify(&note, &[peter()]), Err(NoteError::UnknownSigner));
    assert_eq!(verify(&note, &[]), Err(NoteError::UnknownSigner));
}

#[test]
fn an_invalid_signature_by_a_known_key_invalidates_the_note() {
    let key = signing_key("a", 1);
    let (right, wrong) = (key.signature_line(TEXT), key.signature_line("another text\n"));
    for note in [
        format!("{TEXT}\n{wrong}"),
        format!("{TEXT}\n{wrong}{right}"),
        format!("{TEXT}\n{right}{wrong}"),
        format!("an{TEXT}\n{right}"),
    ] {
        let error = NoteError::WrongSignature {
            name: "a".to_owned(),
            id: key.verifier().id(),
        };
        assert_eq!(verify(&note, &[key.verifier().clone()]), Err(error), "{note}");
    }
}

#[test]
fn a_malformed_note_is_refused() {
    let refused = |note: &str| SignedNote::parse(note).map(|_| ()).unwrap_err();
    for note in ["", "\n", TEXT, PETERS_LINE, &format!("{TEXT}{PETERS_LINE}")] {
        assert_eq!(refused(note), NoteError::NoSignatures, "{note:?}");
    }
    assert_eq!(
        refused(&format!("{TEXT}\n{}", PETERS_LINE.trim_end())),
        NoteError::NoSignatures
    );
    assert_eq!(
        refused(&format!("{TEXT}\r\n\n{PETERS_LINE}")),
        NoteError::ControlCharacter
    );
    assert_eq!(
        refused(&format!("{TEXT}\n{PETERS_LINE}\t")),
        NoteError::ControlCharacter
    );
    for line in [
        "".to_owned(),
        PETERS_LINE.replace('—', "-"),
        PETERS_LINE.replace("— ", "—"),
        PETERS_LINE.replace("PeterNeumann", ""),
        PETERS_LINE.replace("PeterNeumann", "Peter Neumann"),
        PETERS_LINE.replace("PeterNeumann", "Peter+Neumann"),
        PETERS_LINE.replace("AM=", "AM"),
        PETERS_LINE.replace("AM=", "AN="),
        "— PeterNeumann\n".to_owned(),
        "— PeterNeumann \n".to_owned(),
        "— PeterNeumann AAAA\n".to_owned(),
        "— PeterNeumann AAAAAA==\n".to_owned(),
    ] {
        let line = if line.is_empty() { "\n" } else { &line };
        let error = refused(&format!("{TEXT}\n{PETERS_LINE}{line}"));
        // An empty line moves the end of the text, so that no signature follows it.
        let expected = match line {
            "\n" => NoteError::NoSignatures,
            _ => NoteError::SignatureLine { line: 2 },
        };
        assert_eq!(error, expected, "{line:?}");
    }
}

#[test]
fn a_note_has_limits() {
    let key = signing_key("a", 1);
    let key = key.verifier().clone();
    let line = signing_key("a", 1).signature_line(TEXT);
    let note = format!("{TEXT}\n{}", line.repeat(NOTE_SIGNATURES_MAX));
    assert_eq!(verify(&note, std::slice::from_ref(&key)), Ok(TEXT.to_owned()));
    assert_eq!(
        verify(&format!("{note}{line}"), std::slice::from_ref(&key)),
        Err(NoteError::TooManySignatures)
    );
    let signing = signing_key("a", 1);
    let line_bytes = signing.signature_line("").len();
    let text = format!("{}\n", "x".repeat(NOTE_BYTES_MAX - 2 - line_bytes));
    let note = format!("{text}\n{}", signing.signature_line(&text));
    assert_eq!(note.len(), NOTE_BYTES_MAX);
    assert_eq!(verify(&note, std::slice::from_ref(&key)), Ok(text));
    let bytes = NOTE_BYTES_MAX + 1;
    assert_eq!(
        verify(&format!("x{note}"), &[key]),
        Err(NoteError::TooLong {
            bytes,
            bytes_max: NOTE_BYTES_MAX
        })
    );
}
