//! When a certificate is valid, which rustls does not tell.

use audit_domain::Timestamp;
use der::asn1::{GeneralizedTime, UtcTime};
use der::{Decode, Reader, SliceReader, Tag, TagNumber};

/// A certificate is reported when less than this remains of its validity, or a sixth of it, whichever is less.
const WARNING_DAYS_MAX: i64 = 14;
const WARNING_PART: i64 = 6;

/// When a certificate is valid, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Validity {
    pub(super) not_before_seconds: i64,
    pub(super) not_after_seconds: i64,
}

impl Validity {
    /// Reads that of a certificate (RFC 5280, section 4.1).
    pub(super) fn of(certificate: &[u8]) -> der::Result<Self> {
        SliceReader::new(certificate)?.sequence(|certificate| {
            let validity = certificate.sequence(|tbs| {
                let version = Tag::ContextSpecific {
                    constructed: true,
                    number: TagNumber::N0,
                };
                if tbs.peek_tag()? == version {
                    tbs.tlv_bytes()?;
                }
                // Serial number, algorithm of the signature, issuer.
                for _ in 0..3 {
                    tbs.tlv_bytes()?;
                }
                let validity = tbs.sequence(|validity| {
                    Ok(Self {
                        not_before_seconds: seconds(validity)?,
                        not_after_seconds: seconds(validity)?,
                    })
                })?;
                skip_rest(tbs)?;
                Ok(validity)
            })?;
            skip_rest(certificate)?;
            Ok(validity)
        })
    }

    /// What to tell the operator at this time.
    pub(super) fn warning(&self, now_seconds: i64) -> Option<String> {
        let at = |seconds: i64| Timestamp::from_micros(seconds.saturating_mul(1_000_000));
        let remaining = self.not_after_seconds - now_seconds;
        let whole = self.not_after_seconds - self.not_before_seconds;
        if now_seconds < self.not_before_seconds {
            let from = at(self.not_before_seconds);
            return Some(format!("the certificate is not valid before {from}"));
        }
        let until = at(self.not_after_seconds);
        if remaining < 0 {
            return Some(format!("the certificate expired at {until}"));
        }
        let warning = (WARNING_DAYS_MAX * 86_400).min(whole / WARNING_PART);
        (remaining < warning).then(|| format!("the certificate expires at {until}"))
    }
}

fn seconds<'a>(reader: &mut impl Reader<'a>) -> der::Result<i64> {
    let since_epoch = match reader.peek_tag()? {
        Tag::UtcTime => UtcTime::decode(reader)?.to_unix_duration(),
        _ => GeneralizedTime::decode(reader)?.to_unix_duration(),
    };
    Ok(i64::try_from(since_epoch.as_secs()).unwrap_or(i64::MAX))
}

fn skip_rest<'a>(reader: &mut impl Reader<'a>) -> der::Result<()> {
    while !reader.is_finished() {
        reader.tlv_bytes()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

    #[test]
    fn a_certificate_is_reported_before_its_end() {
        let validity = |days: i64| Validity {
            not_before_seconds: 0,
            not_after_seconds: days * DAY,
        };
        let warns = |days: i64, now: i64| validity(days).warning(now);
        assert_eq!(warns(90, 76 * DAY), None);
        assert_eq!(
            warns(90, 76 * DAY + 1).unwrap(),
            "the certificate expires at 1970-04-01T00:00:00.000Z"
        );
        assert_eq!(warns(6, 5 * DAY), None, "a sixth of six days remains");
        assert!(warns(6, 5 * DAY + 1).is_some());
        assert!(warns(6, 6 * DAY + 1).unwrap().contains("expired"));
        assert!(warns(6, -1).unwrap().contains("not valid before"));
    }

    #[test]
    fn another_input_is_no_certificate() {
        for input in [
            &b""[..],
            b"\x30\x80",
            b"\x30\x03\x02\x01\x01",
            &[0x30, 0x82, 0xff],
        ] {
            assert!(Validity::of(input).is_err());
        }
    }
}
