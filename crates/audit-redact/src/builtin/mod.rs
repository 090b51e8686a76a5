//! The built-in rules, one module per rule.

mod aws_key;
mod bearer_token;
mod credit_card;
mod email;
mod iban;
mod ipv4;
mod ipv6;
mod jwt;
mod national_id;
mod phone;
mod secret;
mod ssn;

use crate::behavior::Behavior;
use crate::rewrite::Hit;
use crate::scan::digits::{Chain, each_group, is_address};
use crate::scan::prefilter::{self, Hints};
use crate::scan::width::Narrowed;
use crate::scan::{Span, Subject};

/// A kind of sensitive text that a built-in rule finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// Payment card numbers.
    CreditCard,
    /// United States social security numbers.
    Ssn,
    /// E-mail addresses.
    Email,
    /// Phone numbers.
    Phone,
    /// JSON Web Tokens, signed or encrypted.
    Jwt,
    /// Tokens of the `Bearer` scheme.
    BearerToken,
    /// AWS key ids, secret keys and session tokens.
    AwsKey,
    /// IPv4 addresses. Not enabled by default: many audit logs exist to record them.
    Ipv4,
    /// Passwords, tokens, keys and other secrets: by their name, in URLs and headers, by a vendor's prefix, and private
    /// keys.
    Secret,
    /// International bank account numbers (ISO 13616).
    Iban,
    /// IPv6 addresses. Not enabled by default, like IPv4 addresses.
    Ipv6,
    /// National insurance numbers of the United Kingdom. Like all national ids, not enabled by default.
    UkNino,
    /// Brazilian taxpayer numbers (CPF).
    BrCpf,
    /// Indian Aadhaar numbers.
    InAadhaar,
    /// Indian permanent account numbers (PAN).
    InPan,
}

impl Builtin {
    /// Every kind, in order of evaluation.
    pub const ALL: &[Builtin] = &[
        Builtin::CreditCard,
        Builtin::Ssn,
        Builtin::Email,
        Builtin::Phone,
        Builtin::Jwt,
        Builtin::BearerToken,
        Builtin::AwsKey,
        Builtin::Ipv4,
        Builtin::Secret,
        Builtin::Iban,
        Builtin::Ipv6,
        Builtin::UkNino,
        Builtin::BrCpf,
        Builtin::InAadhaar,
        Builtin::InPan,
    ];

    /// The kind's name, for example `credit_card`.
    pub fn name(self) -> &'static str {
        &self.rule_id()["builtin_".len()..]
    }

    /// The id of the kind's rule, for example `builtin_credit_card`.
    pub fn rule_id(self) -> &'static str {
        match self {
            Builtin::CreditCard => "builtin_credit_card",
            Builtin::Ssn => "builtin_ssn",
            Builtin::Email => "builtin_email",
            Builtin::Phone => "builtin_phone",
            Builtin::Jwt => "builtin_jwt",
            Builtin::BearerToken => "builtin_bearer_token",
            Builtin::AwsKey => "builtin_aws_key",
            Builtin::Ipv4 => "builtin_ipv4",
            Builtin::Secret => "builtin_secret",
            Builtin::Iban => "builtin_iban",
            Builtin::Ipv6 => "builtin_ipv6",
            Builtin::UkNino => "builtin_uk_nino",
            Builtin::BrCpf => "builtin_br_cpf",
            Builtin::InAadhaar => "builtin_in_aadhaar",
            Builtin::InPan => "builtin_in_pan",
        }
    }

    /// The kind with this rule id.
    pub fn from_rule_id(rule_id: &str) -> Option<Self> {
        Builtin::ALL
            .iter()
            .copied()
            .find(|builtin| builtin.rule_id() == rule_id)
    }

    /// The kind's name for display, for example `Credit Card`.
    pub fn title(self) -> &'static str {
        match self {
            Builtin::CreditCard => "Credit Card",
            Builtin::Ssn => "SSN",
            Builtin::Email => "Email",
            Builtin::Phone => "Phone",
            Builtin::Jwt => "JWT",
            Builtin::BearerToken => "Bearer Token",
            Builtin::AwsKey => "AWS Key",
            Builtin::Ipv4 => "IPv4 Address",
            Builtin::Secret => "Secret",
            Builtin::Iban => "IBAN",
            Builtin::Ipv6 => "IPv6 Address",
            Builtin::UkNino => "UK National Insurance Number",
            Builtin::BrCpf => "Brazilian CPF",
            Builtin::InAadhaar => "Indian Aadhaar",
            Builtin::InPan => "Indian PAN",
        }
    }

    /// Whether the rule is enabled by default.
    pub fn enabled_by_default(self) -> bool {
        match self {
            Builtin::CreditCard
            | Builtin::Ssn
            | Builtin::Email
            | Builtin::Phone
            | Builtin::Jwt
            | Builtin::BearerToken
            | Builtin::AwsKey
            | Builtin::Secret
            | Builtin::Iban => true,
            Builtin::Ipv4
            | Builtin::Ipv6
            | Builtin::UkNino
            | Builtin::BrCpf
            | Builtin::InAadhaar
            | Builtin::InPan => false,
        }
    }

    /// The hints of this kind. A text without any of them cannot contain it.
    fn hints(self) -> Hints {
        match self {
            Builtin::CreditCard | Builtin::Ssn | Builtin::Phone => Hints::DIGITS,
            Builtin::Email => Hints::AT,
            Builtin::Jwt => Hints::ENCODED_JSON,
            Builtin::BearerToken => Hints::BEARER,
            Builtin::AwsKey => Hints::AWS_PREFIX.union(Hints::BASE64_RUN),
            Builtin::Ipv4 | Builtin::UkNino | Builtin::InPan => Hints::FEW_DIGITS,
            Builtin::Secret => secret::HINTS,
            Builtin::Iban => Hints::IBAN,
            Builtin::BrCpf | Builtin::InAadhaar => Hints::DIGITS,
            Builtin::Ipv6 => Hints::ANY,
        }
    }

    fn index(self) -> usize {
        self as usize
    }
}

/// The enabled built-in rules.
#[derive(Debug, Clone)]
pub(crate) struct Enabled {
    /// By [`Builtin::index`]: the rule's index and behaviour.
    rules: [Option<(usize, Behavior)>; Builtin::ALL.len()],
    /// The hints of all enabled rules.
    hints: Hints,
}

impl Enabled {
    pub(crate) fn new(behaviors: &[(Builtin, Behavior)], first_rule: usize) -> Enabled {
        let mut enabled = Enabled {
            rules: [None; Builtin::ALL.len()],
            hints: Hints::NONE,
        };
        let mut rule = first_rule;
        for kind in Builtin::ALL {
            if let Some((_, behavior)) = behaviors.iter().find(|(present, _)| present == kind) {
                enabled.rules[kind.index()] = Some((rule, *behavior));
                enabled.hints = enabled.hints.union(kind.hints());
                rule += 1;
            }
        }
        enabled
    }

    /// The enabled kinds, in order of evaluation.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = Builtin> + '_ {
        Builtin::ALL
            .iter()
            .copied()
            .filter(|kind| self.rules[kind.index()].is_some())
    }

    /// Whether a number behind this key is scanned, however small it is.
    pub(crate) fn names_number(&self, key: &str) -> bool {
        self.rules[Builtin::Secret.index()].is_some() && secret::names_number(key)
    }

    /// Whether a text is the name of a secret.
    pub(crate) fn names_secret(&self, text: &str) -> bool {
        self.rules[Builtin::Secret.index()].is_some() && secret::is_name(text)
    }

    /// Whether a text may be the name of a secret. A quick check of its last letters.
    #[inline]
    pub(crate) fn may_name_secret(&self, text: &str) -> bool {
        self.rules[Builtin::Secret.index()].is_some() && secret::may_be_named_by(text)
    }

    /// Collects the hits of all enabled rules.
    #[inline]
    pub(crate) fn scan(&self, subject: Subject<'_>, hits: &mut Vec<Hit>) {
        if self.hints == Hints::NONE {
            return;
        }
        let mut hints = prefilter::hints(subject.bytes());
        if bearer_token::is_named_by(subject.key) {
            hints = hints.union(Hints::BEARER);
        }
        if secret::may_be_named_by(subject.key) {
            hints = hints.union(Hints::NAMED);
        }
        if hints.intersects(self.hints) || hints.intersects(Hints::WIDE) {
            self.scan_for(hints, subject, hits);
        }
    }

    fn scan_for(&self, hints: Hints, subject: Subject<'_>, hits: &mut Vec<Hit>) {
        let mut hit = |kind: Builtin, span: Span| {
            if let Some((rule, behavior)) = self.rules[kind.index()] {
                hits.push(Hit {
                    span,
                    rule,
                    behavior,
                    kind: Some(kind),
                });
            }
        };
        find(
            hints,
            subject,
            |kind| self.rules[kind.index()].is_some(),
            &mut hit,
        );
    }
}

/// Finds the wanted kinds in a text. `hints` are those of the text.
fn find(
    hints: Hints,
    subject: Subject<'_>,
    wanted: impl Fn(Builtin) -> bool,
    hit: &mut impl FnMut(Builtin, Span),
) {
    if hints.intersects(Hints::WIDE) {
        let narrowed = Narrowed::new(subject.text);
        let narrow = Subject {
            text: &narrowed.text,
            ..subject
        };
        let hints = hints.union(prefilter::hints(narrow.bytes()));
        return find_narrow(hints, narrow, wanted, &mut |kind, span| {
            hit(kind, narrowed.original(span));
        });
    }
    find_narrow(hints, subject, wanted, hit);
}

/// Does the same in a text without full-width characters.
fn find_narrow(
    hints: Hints,
    subject: Subject<'_>,
    wanted: impl Fn(Builtin) -> bool,
    hit: &mut impl FnMut(Builtin, Span),
) {
    let may_hold = |kind: Builtin| wanted(kind) && hints.intersects(kind.hints());
    let (card, ssn, phone) = (
        may_hold(Builtin::CreditCard),
        may_hold(Builtin::Ssn),
        may_hold(Builtin::Phone),
    );
    if card || ssn || phone {
        find_numbers(hints, subject, [card, ssn, phone], hit);
    }
    if may_hold(Builtin::Email) {
        email::find(subject, |span| hit(Builtin::Email, span));
    }
    if may_hold(Builtin::Jwt) {
        jwt::find(subject, |span| hit(Builtin::Jwt, span));
    }
    if may_hold(Builtin::BearerToken) {
        bearer_token::find(subject, |span| hit(Builtin::BearerToken, span));
    }
    if may_hold(Builtin::AwsKey) {
        aws_key::find(hints, subject, |span| hit(Builtin::AwsKey, span));
    }
    if may_hold(Builtin::Ipv4) {
        ipv4::find(subject, |span| hit(Builtin::Ipv4, span));
    }
    if may_hold(Builtin::Secret) {
        secret::find(hints, subject, |span| hit(Builtin::Secret, span));
    }
    if may_hold(Builtin::Iban) {
        iban::find(subject, |span| hit(Builtin::Iban, span));
    }
    if may_hold(Builtin::Ipv6) {
        ipv6::find(subject, |span| hit(Builtin::Ipv6, span));
    }
    if may_hold(Builtin::UkNino) {
        national_id::find_nino(subject, |span| hit(Builtin::UkNino, span));
    }
    if may_hold(Builtin::BrCpf) {
        national_id::find_cpf(subject, |span| hit(Builtin::BrCpf, span));
    }
    if may_hold(Builtin::InAadhaar) {
        national_id::find_aadhaar(subject, |span| hit(Builtin::InAadhaar, span));
    }
    if may_hold(Builtin::InPan) {
        national_id::find_pan(subject, |span| hit(Builtin::InPan, span));
    }
}

/// Finds card, social security and phone numbers in one pass, because each begins with a group of digits.
fn find_numbers(
    hints: Hints,
    subject: Subject<'_>,
    [card, ssn, phone]: [bool; 3],
    hit: &mut impl FnMut(Builtin, Span),
) {
    /// The shortest of them is a local phone number behind `tel:`.
    const DIGITS_MIN: usize = 7;
    if is_address(subject.bytes()) {
        return;
    }
    let account = account_of_arn(subject.bytes());
    if account.is_some() && !hints.intersects(Hints::MANY_DIGITS) {
        return;
    }
    let mut ends = [0; 3];
    each_group::<DIGITS_MIN>(subject.text, |start| {
        if account == Some(start) {
            return;
        }
        let [card_end, ssn_end, phone_end] = ends;
        let mut found = |slot: usize, kind: Builtin, span: Option<Span>| {
            if let Some(span) = span {
                ends[slot] = span.end;
                hit(kind, span);
            }
        };
        if (card && start >= card_end) || (ssn && start >= ssn_end) {
            let chain = Chain::read(subject.text, start);
            if card && start >= card_end {
                found(0, Builtin::CreditCard, credit_card::at(subject, &chain));
            }
            if ssn && start >= ssn_end {
                found(1, Builtin::Ssn, ssn::at(subject, &chain));
            }
        }
        if phone && start >= phone_end {
            found(2, Builtin::Phone, phone::at(subject, start, phone_end));
        }
    });
}

/// Digits of an AWS account.
const ACCOUNT_DIGITS: usize = 12;

/// The start of the account in the name of an AWS resource, `arn:partition:service:region:account:resource`.
fn account_of_arn(text: &[u8]) -> Option<usize> {
    const FIELDS_BEFORE: usize = 4;
    let rest = text.strip_prefix(b"arn:")?;
    let mut colons = rest.iter().enumerate().filter(|(_, byte)| **byte == b':');
    let (colon, _) = colons.nth(FIELDS_BEFORE - 2)?;
    let (next, _) = colons.next()?;
    let account = &rest[colon + 1..next];
    (account.len() == ACCOUNT_DIGITS && account.iter().all(u8::is_ascii_digit))
        .then_some(text.len() - rest.len() + colon + 1)
}

/// The kind of the text, if one match covers all of it.
pub(crate) fn kind_of_whole(text: &str) -> Option<Builtin> {
    let whole = Span::new(0, text.len());
    let mut kind = None;
    find(
        prefilter::hints(text.as_bytes()),
        Subject::of_text(text),
        |_| true,
        &mut |found, span| {
            if span == whole {
                kind = kind.or(Some(found));
            }
        },
    );
    kind
}

/// The parts of a text that `find` hits.
#[cfg(test)]
fn found_in<'a>(text: &'a str, find: impl FnOnce(Subject<'a>, &mut dyn FnMut(Span))) -> Vec<&'a str> {
    let mut found = Vec::new();
    find(Subject::of_text(text), &mut |span| {
        found.push(&text[span.start..span.end])
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_rule_id() {
        for kind in Builtin::ALL {
            assert_eq!(Builtin::from_rule_id(kind.rule_id()), Some(*kind));
            assert_eq!(format!("builtin_{}", kind.name()), kind.rule_id());
        }
        assert_eq!(Builtin::from_rule_id("credit_card"), None);
    }

    #[test]
    fn addresses_and_national_ids_are_off_by_default() {
        let off: Vec<_> = Builtin::ALL
            .iter()
            .filter(|kind| !kind.enabled_by_default())
            .map(|kind| kind.name())
            .collect();
        assert_eq!(off, ["ipv4", "ipv6", "uk_nino", "br_cpf", "in_aadhaar", "in_pan"]);
    }
}
