//! The DER of time-stamp responses: RFC 3161, inside of CMS (RFC 5652). Only what verification needs is read.

use crate::TimeStampError;
use audit_domain::Timestamp;
use der::asn1::AnyRef;
use der::{Decode, Reader, SliceReader, Tag};

/// Object identifiers, as they are encoded.
pub(crate) mod oid {
    /// `id-signedData`
    pub(crate) const SIGNED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2];
    /// `id-ct-TSTInfo`
    pub(crate) const TST_INFO: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 16, 1, 4];
    /// `id-contentType`
    pub(crate) const CONTENT_TYPE: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 3];
    /// `id-messageDigest`
    pub(crate) const MESSAGE_DIGEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 4];
    pub(crate) const SHA256: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1];
    pub(crate) const SHA384: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 2];
    pub(crate) const SHA512: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3];
    /// `id-kp-timeStamping`
    pub(crate) const TIME_STAMPING: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 8];
}

/// The statuses `granted` and `grantedWithMods`.
const GRANTED: [&[u8]; 2] = [&[0], &[1]];

/// A tag, `[0]` for example, in its encoded form.
const CONTEXT_0: u8 = 0xa0;

/// The parts of a response that verification needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The SHA-256 that was stamped.
    pub(crate) digest: [u8; 32],
    pub(crate) time: Timestamp,
    pub(crate) nonce: Option<Vec<u8>>,
    /// What was signed.
    pub(crate) content: Vec<u8>,
    /// The algorithm of `content_digest`.
    pub(crate) digest_oid: Vec<u8>,
    /// The digest of `content` in the signed attributes.
    pub(crate) content_digest: Vec<u8>,
    /// The signed attributes as they are signed: as a SET.
    pub(crate) signed_attributes: Vec<u8>,
    pub(crate) signature: Vec<u8>,
    pub(crate) certificates: Vec<Vec<u8>>,
}

/// One encoded value.
#[derive(Clone, Copy)]
struct Element<'a> {
    /// With tag and length.
    whole: &'a [u8],
    content: &'a [u8],
}

type Result<T, E = TimeStampError> = std::result::Result<T, E>;

const fn malformed(what: &'static str) -> TimeStampError {
    TimeStampError::Malformed(what)
}

impl<'a> Element<'a> {
    /// The only value in these bytes.
    fn only(bytes: &'a [u8], what: &'static str) -> Result<Self> {
        match Self::all(bytes, what)?.as_slice() {
            [element] => Ok(*element),
            _ => Err(malformed(what)),
        }
    }

    /// The values in these bytes.
    fn all(bytes: &'a [u8], what: &'static str) -> Result<Vec<Self>> {
        let error = |_| malformed(what);
        let mut reader = SliceReader::new(bytes).map_err(error)?;
        let mut elements = Vec::new();
        while !reader.is_finished() {
            let whole = reader.tlv_bytes().map_err(error)?;
            let content = AnyRef::from_der(whole).map_err(error)?.value();
            elements.push(Self { whole, content });
        }
        Ok(elements)
    }

    fn tag(&self) -> u8 {
        self.whole[0]
    }

    /// The content, if the value has this tag.
    fn of(&self, tag: u8, what: &'static str) -> Result<&'a [u8]> {
        match self.tag() == tag {
            true => Ok(self.content),
            false => Err(malformed(what)),
        }
    }

    /// The elements of a SEQUENCE.
    fn sequence(&self, what: &'static str) -> Result<Vec<Self>> {
        Self::all(self.of(Tag::Sequence.octet(), what)?, what)
    }
}

/// The element at a position.
fn at<'a>(elements: &[Element<'a>], position: usize, what: &'static str) -> Result<Element<'a>> {
    elements.get(position).copied().ok_or_else(|| malformed(what))
}

impl Token {
    /// Reads a `TimeStampResp`.
    pub(crate) fn parse(response: &[u8]) -> Result<Self> {
        let response = Element::only(response, "response")?.sequence("response")?;
        let status = at(&response, 0, "status")?.sequence("status")?;
        let status = at(&status, 0, "status")?.of(Tag::Integer.octet(), "status")?;
        if !GRANTED.contains(&status) {
            let status = status.last().copied().unwrap_or_default();
            return Err(TimeStampError::NotGranted(status));
        }
        let info = at(&response, 1, "token")?.sequence("token")?;
        if at(&info, 0, "content type")?.content != oid::SIGNED_DATA {
            return Err(malformed("content type"));
        }
        let explicit = at(&info, 1, "token")?.of(CONTEXT_0, "token")?;
        Self::of_signed_data(&Element::only(explicit, "token")?.sequence("token")?)
    }

    fn of_signed_data(data: &[Element<'_>]) -> Result<Self> {
        let content = at(data, 2, "content")?.sequence("content")?;
        if at(&content, 0, "content type")?.content != oid::TST_INFO {
            return Err(malformed("content type"));
        }
        let explicit = at(&content, 1, "content")?.of(CONTEXT_0, "content")?;
        let content = Element::only(explicit, "content")?.of(Tag::OctetString.octet(), "content")?;
        let mut certificates = Vec::new();
        if let Some(set) = data.iter().skip(3).find(|element| element.tag() == CONTEXT_0) {
            let all = Element::all(set.content, "certificates")?;
            // Others than X.509 have other tags.
            let x509 = all.iter().filter(|one| one.tag() == Tag::Sequence.octet());
            certificates.extend(x509.map(|one| one.whole.to_vec()));
        }
        let signers = data.last().ok_or_else(|| malformed("signer"))?;
        let signer = Element::only(signers.of(Tag::Set.octet(), "signer")?, "signer")?;
        let stamped = Stamped::parse(content)?;
        let token = Self {
            digest: stamped.digest,
            time: stamped.time,
            nonce: stamped.nonce,
            content: content.to_vec(),
            digest_oid: Vec::new(),
            content_digest: Vec::new(),
            signed_attributes: Vec::new(),
            signature: Vec::new(),
            certificates,
        };
        token.with_signer(&signer.sequence("signer")?)
    }

    fn with_signer(self, signer: &[Element<'_>]) -> Result<Self> {
        let digest_oid = at(&at(signer, 2, "digest")?.sequence("digest")?, 0, "digest")?.content;
        let attributes = at(signer, 3, "signed attributes")?;
        let mut content_type = None;
        let mut content_digest = None;
        for attribute in Element::all(
            attributes.of(CONTEXT_0, "signed attributes")?,
            "signed attributes",
        )? {
            let attribute = attribute.sequence("signed attribute")?;
            let values = at(&attribute, 1, "signed attribute")?.of(Tag::Set.octet(), "signed attribute")?;
            match at(&attribute, 0, "signed attribute")?.content {
                oid::CONTENT_TYPE => content_type = Some(Element::only(values, "content type")?.content),
                oid::MESSAGE_DIGEST => content_digest = Some(Element::only(values, "digest")?.content),
                _ => {}
            }
        }
        if content_type != Some(oid::TST_INFO) {
            return Err(malformed("content type"));
        }
        let mut signed_attributes = attributes.whole.to_vec();
        signed_attributes[0] = Tag::Set.octet();
        let signature = at(signer, 5, "signature")?.of(Tag::OctetString.octet(), "signature")?;
        Ok(Self {
            digest_oid: digest_oid.to_vec(),
            content_digest: content_digest.ok_or_else(|| malformed("digest"))?.to_vec(),
            signed_attributes,
            signature: signature.to_vec(),
            ..self
        })
    }
}

/// The fields of a `TSTInfo`.
struct Stamped {
    digest: [u8; 32],
    time: Timestamp,
    nonce: Option<Vec<u8>>,
}

impl Stamped {
    fn parse(content: &[u8]) -> Result<Self> {
        let info = Element::only(content, "TSTInfo")?.sequence("TSTInfo")?;
        let imprint = at(&info, 2, "imprint")?.sequence("imprint")?;
        let algorithm = at(&imprint, 0, "imprint")?.sequence("imprint")?;
        if at(&algorithm, 0, "imprint")?.content != oid::SHA256 {
            return Err(TimeStampError::OtherDigest);
        }
        let digest = at(&imprint, 1, "imprint")?.of(Tag::OctetString.octet(), "imprint")?;
        let time = at(&info, 4, "time")?.of(Tag::GeneralizedTime.octet(), "time")?;
        let mut optional = info.iter().skip(5);
        let nonce = optional.find(|element| element.tag() == Tag::Integer.octet());
        Ok(Self {
            digest: digest.try_into().map_err(|_| malformed("imprint"))?,
            time: generalized_time(time)?,
            nonce: nonce.map(|nonce| nonce.content.to_vec()),
        })
    }
}

/// `20261122100000Z`, also with a fraction of a second.
fn generalized_time(text: &[u8]) -> Result<Timestamp> {
    let text = std::str::from_utf8(text).map_err(|_| malformed("time"))?;
    let (date, rest) = text.split_at_checked(8).ok_or_else(|| malformed("time"))?;
    let (time, rest) = rest.split_at_checked(6).ok_or_else(|| malformed("time"))?;
    if !date.bytes().chain(time.bytes()).all(|byte| byte.is_ascii_digit()) {
        return Err(malformed("time"));
    }
    let written = format!(
        "{}-{}-{}T{}:{}:{}{rest}",
        &date[..4],
        &date[4..6],
        &date[6..],
        &time[..2],
        &time[2..4],
        &time[4..]
    );
    Timestamp::parse_rfc3339(&written).map_err(|_| malformed("time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generalized_time_may_have_a_fraction() {
        let seconds = 1_768_473_000;
        assert_eq!(
            generalized_time(b"20260115103000Z"),
            Ok(Timestamp::from_seconds(seconds))
        );
        assert_eq!(
            generalized_time(b"20260115103000.25Z"),
            Ok(Timestamp::from_millis(seconds * 1_000 + 250))
        );
        for wrong in [
            "",
            "2026",
            "20260115103000",
            "20261315103000Z",
            "2026011510300Z",
            "2026-1-5103000Z",
        ] {
            assert!(generalized_time(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
