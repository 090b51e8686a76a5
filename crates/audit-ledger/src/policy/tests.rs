use super::*;
use crate::{Checkpoint, Frontier, KeyName, SigningKey, WitnessSigner};

fn log() -> SigningKey {
    SigningKey::from_seed(KeyName::parse("log.example").unwrap(), &[1; 32]).unwrap()
}

fn signer(number: u8) -> WitnessSigner {
    let name = KeyName::parse(&format!("witness.example/{number}")).unwrap();
    WitnessSigner::from_seed(name, &[100 + number; 32]).unwrap()
}

/// The lines of a policy with five witnesses: two of X1, X2 and X3, and Y1 or Y2.
fn lines() -> Vec<String> {
    let witness = |name: &str, number: u8| {
        format!(
            "witness {name} {} https://w{number}.example/",
            signer(number).key()
        )
    };
    vec![
        format!("log {}", log().verifier()),
        String::new(),
        "  # Witnesses of two operators.".to_owned(),
        witness("X1", 1),
        witness("X2", 2),
        witness("X3", 3),
        "group\tX 2  X1 X2 X3 ".to_owned(),
        witness("Y1", 4),
        witness("Y2", 5),
        "group Y any Y1 Y2".to_owned(),
        "group both all X Y".to_owned(),
        "quorum both".to_owned(),
    ]
}

fn note(witnesses: &[u8]) -> String {
    let origin = Origin::parse("log.example").unwrap();
    let signed = log().sign(Checkpoint::new(origin, Frontier::new().head()));
    let text = signed.checkpoint().to_string();
    let cosigned = witnesses
        .iter()
        .map(|number| signer(*number).cosign(&text, 1_700_000_000).line);
    signed.note().to_owned() + &cosigned.collect::<String>()
}

fn verify(policy: &[String], witnesses: &[u8]) -> bool {
    let policy: Policy = policy.join("\n").parse().unwrap();
    let origin = Origin::parse("log.example").unwrap();
    policy.verify(&note(witnesses), &origin).is_ok()
}

#[test]
fn a_quorum_is_counted_by_groups() {
    let lines = lines();
    for (witnesses, is_quorum) in [
        (&[][..], false),
        (&[1, 2], false),
        (&[1, 4], false),
        (&[4, 5], false),
        (&[1, 2, 3], false),
        (&[1, 3, 5], true),
        (&[2, 3, 4], true),
        (&[1, 2, 3, 4, 5], true),
        // Nobody counts twice.
        (&[1, 1, 4], false),
    ] {
        assert_eq!(verify(&lines, witnesses), is_quorum, "{witnesses:?}");
    }
}

#[test]
fn a_quorum_may_be_one_witness_or_none() {
    let mut lines = lines();
    *lines.last_mut().unwrap() = "quorum X2".to_owned();
    assert!(verify(&lines, &[2]) && !verify(&lines, &[1, 3, 4]));
    *lines.last_mut().unwrap() = "quorum none".to_owned();
    assert!(verify(&lines, &[]));
}

#[test]
fn a_checkpoint_of_an_unknown_log_is_refused() {
    let mut lines = lines();
    lines.remove(0);
    assert!(!verify(&lines, &[1, 2, 3, 4, 5]));
}

#[test]
fn a_policy_that_is_not_one_is_refused_by_its_line() {
    let problem = |change: fn(&mut Vec<String>)| {
        let mut lines = lines();
        change(&mut lines);
        match lines.join("\n").parse::<Policy>() {
            Err(PolicyError::Line { line, .. } | PolicyError::Key { line, .. }) => line,
            Err(PolicyError::Quorum) => 0,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(problem(|lines| drop(lines.pop())), 0);
    assert_eq!(problem(|lines| lines.push("quorum X".to_owned())), 0);
    assert_eq!(problem(|lines| lines[11] = "quorum Z".to_owned()), 12);
    assert_eq!(problem(|lines| lines[1] = lines[0].clone()), 2);
    assert_eq!(problem(|lines| lines[1] = "unknown line".to_owned()), 2);
    assert_eq!(problem(|lines| lines[1] = "log nonsense".to_owned()), 2);
    assert_eq!(problem(|lines| lines[4] = lines[3].replace("X1", "X2")), 5);
    assert_eq!(problem(|lines| lines[4] = lines[4].replace("X2", "X1")), 5);
    assert_eq!(problem(|lines| lines[3] = lines[3].replace("X1", "none")), 4);
    assert_eq!(
        problem(|lines| lines[3] = format!("witness X1 {}", log().verifier())),
        4
    );
    assert_eq!(problem(|lines| lines[6] = "group X 4 X1 X2 X3".to_owned()), 7);
    assert_eq!(problem(|lines| lines[6] = "group X 0 X1 X2 X3".to_owned()), 7);
    assert_eq!(problem(|lines| lines[6] = "group X all".to_owned()), 7);
    assert_eq!(problem(|lines| lines[6] = "group X some X1".to_owned()), 7);
    assert_eq!(problem(|lines| lines[6] = "group X any Y1".to_owned()), 7);
    assert_eq!(problem(|lines| lines[9] = "group Y any Y1 X1".to_owned()), 10);
    assert_eq!(problem(|lines| lines[2] = "# a\rb".to_owned()), 3);
}

#[test]
fn cosignatures_are_added_to_a_note_of_the_same_text_only() {
    let policy: Policy = lines().join("\n").parse().unwrap();
    let (bare, two) = (note(&[]), note(&[1, 9, 4]));
    let (cosigned, is_quorum) = policy.cosigned(&bare, &two);
    assert_eq!(
        (cosigned.as_str(), is_quorum),
        (note(&[1, 4]).as_str(), false),
        "9 is not of the policy"
    );
    let (cosigned, is_quorum) = policy.cosigned(&cosigned, &note(&[2]));
    assert_eq!(policy.cosigners(&cosigned), BTreeSet::from(["X1", "X2", "Y1"]));
    assert!(is_quorum);
    // The same once more, and a cosignature that was changed.
    assert_eq!(policy.cosigned(&cosigned, &two).0, cosigned);
    let forged = note(&[3]).replace("log.example\n0", "log.example\n1");
    assert_eq!(policy.cosigned(&bare, &forged), (bare.clone(), false));
    assert_eq!(policy.cosigned(&bare, "nonsense"), (bare, false));
}

#[test]
fn a_quorum_is_reachable_only_with_urls() {
    let lines = lines().join("\n");
    let reachable = |text: &str| text.parse::<Policy>().unwrap().is_reachable();
    assert!(reachable(&lines));
    assert!(reachable(&lines.replace(" https://w1.example/", "")));
    let without = lines
        .replace(" https://w4.example/", "")
        .replace(" https://w5.example/", "");
    assert!(!reachable(&without));
}
