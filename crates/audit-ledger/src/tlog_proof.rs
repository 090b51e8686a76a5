//! Proofs in one file: C2SP `tlog-proof`.

use crate::note::NOTE_BYTES_MAX;
use crate::proof::PROOF_HASHES_MAX;
use crate::range::RangeError;
use crate::{
    CheckpointError, Hash, InclusionProof, ProofError, ProofTextError, SignedCheckpoint, VerifierKey,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt;
use std::str::FromStr;

/// An inclusion proof together with the checkpoint that it leads to, for verification offline. `Display` writes the text
/// of [C2SP `tlog-proof`](https://c2sp.org/tlog-proof); files of it end in `.tlog-proof`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlogProof {
    /// Data of the application. Nothing authenticates it, unless the leaf is computed from it.
    pub extra: Option<Vec<u8>>,
    /// The index of the leaf, from 0.
    pub index: u64,
    /// The path from the leaf to the root of the checkpoint.
    pub inclusion: InclusionProof,
    /// The note of the checkpoint, with all its signatures.
    pub checkpoint: String,
}

/// A text is not a `tlog-proof`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlogProofTextError {
    /// The text exceeds [`TlogProof::BYTES_MAX`].
    #[error("a proof file has at most {} bytes", TlogProof::BYTES_MAX)]
    TooLong,
    /// The first line is not that of the format.
    #[error("the first line of a proof file is {}", TlogProof::HEADER)]
    Header,
    /// The extra data are not base64.
    #[error("the line \"extra\" of a proof file is base64")]
    Extra,
    /// There is no index, or it is not a number in its shortest form.
    #[error("a proof file has a line \"index\" with a whole number, without leading zeros")]
    Index,
    /// No empty line separates the hashes from the checkpoint.
    #[error("a proof file has an empty line before its checkpoint")]
    Checkpoint,
    /// A hash cannot be read, or there are too many.
    #[error(transparent)]
    Hashes(#[from] ProofTextError),
}

/// A [`TlogProof`] is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlogProofError {
    /// The checkpoint is not signed by the key, or is that of another log.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The leaf is not in the tree of the checkpoint.
    #[error(transparent)]
    Inclusion(#[from] ProofError),
}

impl TlogProof {
    /// The first line of the format.
    pub const HEADER: &str = "c2sp.org/tlog-proof@v1";
    /// Most bytes of the extra data.
    pub const EXTRA_BYTES_MAX: usize = 256 * 1024;
    /// Most bytes of the text: extra data in base64, hashes and note.
    pub const BYTES_MAX: usize = Self::EXTRA_BYTES_MAX * 4 / 3 + PROOF_HASHES_MAX * 45 + NOTE_BYTES_MAX + 100;

    /// Verifies that the leaf is in a log of the key's owner, at the proof's index. Returns the verified checkpoint, whose
    /// origin names the log.
    ///
    /// # Errors
    /// [`TlogProofError`] names the check that failed.
    pub fn verify(&self, leaf: &Hash, key: &VerifierKey) -> Result<SignedCheckpoint, TlogProofError> {
        let signed = SignedCheckpoint::open_of_owner(&self.checkpoint, key)?;
        self.inclusion.verify(self.index, leaf, signed.head())?;
        Ok(signed)
    }
}

impl fmt::Display for TlogProof {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", Self::HEADER)?;
        if let Some(extra) = &self.extra {
            writeln!(formatter, "extra {}", STANDARD.encode(extra))?;
        }
        writeln!(formatter, "index {}", self.index)?;
        for hash in self.inclusion.hashes() {
            writeln!(formatter, "{hash}")?;
        }
        write!(formatter, "\n{}", self.checkpoint)
    }
}

/// Parses the text, of which there is one form. Nothing is verified.
impl FromStr for TlogProof {
    type Err = TlogProofTextError;

    fn from_str(text: &str) -> Result<Self, TlogProofTextError> {
        if text.len() > Self::BYTES_MAX {
            return Err(TlogProofTextError::TooLong);
        }
        let text = text
            .strip_prefix(Self::HEADER)
            .and_then(|rest| rest.strip_prefix('\n'));
        let text = text.ok_or(TlogProofTextError::Header)?;
        let (extra, text) = match text.strip_prefix("extra ") {
            None => (None, text),
            Some(text) => {
                let (extra, text) = text.split_once('\n').ok_or(TlogProofTextError::Extra)?;
                let extra = STANDARD.decode(extra).map_err(|_| TlogProofTextError::Extra)?;
                (Some(extra), text)
            }
        };
        let (index, text) = text
            .strip_prefix("index ")
            .and_then(|text| text.split_once('\n'))
            .ok_or(TlogProofTextError::Index)?;
        let index = parse_index(index)?;
        let (hashes, checkpoint) = match text.strip_prefix('\n') {
            Some(checkpoint) => (Vec::new(), checkpoint),
            None => {
                let (hashes, checkpoint) = text.split_once("\n\n").ok_or(TlogProofTextError::Checkpoint)?;
                (hashes.split('\n').collect(), checkpoint)
            }
        };
        Ok(Self {
            extra,
            index,
            inclusion: InclusionProof::from_base64(hashes)?,
            checkpoint: checkpoint.to_owned(),
        })
    }
}

fn parse_index(text: &str) -> Result<u64, TlogProofTextError> {
    let index: u64 = text.parse().map_err(|_| TlogProofTextError::Index)?;
    // Leading zeros and plus signs would be other encodings of the same proof.
    if index.to_string() != text || RangeError::check_size(index).is_err() {
        return Err(TlogProofTextError::Index);
    }
    Ok(index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Checkpoint, Frontier, Growth, KeyName, Origin, SigningKey, Tile, TileSet};

    fn proof(extra: Option<&[u8]>, index: u64, size: u64) -> (TlogProof, Hash, VerifierKey) {
        let key = SigningKey::from_seed(KeyName::parse("audit.example.com").unwrap(), &[7; 32]).unwrap();
        let leaves: Vec<Hash> = (0..size)
            .map(|leaf| Hash::of_leaf(leaf.to_string().as_bytes()))
            .collect();
        let mut growth = Growth::new(Frontier::new());
        growth.extend(&leaves);
        let origin = Origin::parse("audit.example.com/acme/live").unwrap();
        let checkpoint = key.sign(Checkpoint::new(origin, growth.head()));
        let id = format!("tile/0/000.p/{size}").parse().unwrap();
        let tiles = TileSet::from_iter([Tile::new(id, leaves.clone()).unwrap()]);
        let proof = TlogProof {
            extra: extra.map(<[u8]>::to_vec),
            index,
            inclusion: InclusionProof::prove(index, size, |subtree| tiles.hash(subtree)).unwrap(),
            checkpoint: checkpoint.note().to_owned(),
        };
        (proof, leaves[index as usize], key.verifier().clone())
    }

    #[test]
    fn the_text_of_a_proof_reads_back_as_the_same_proof() {
        for (extra, index, size) in [
            (None, 0, 1),
            (None, 2, 5),
            (Some(&b"{\"a\":1}"[..]), 4, 5),
            (Some(&[][..]), 0, 2),
        ] {
            let (proof, leaf, key) = proof(extra, index, size);
            let text = proof.to_string();
            assert!(text.starts_with("c2sp.org/tlog-proof@v1\n"), "{text}");
            let read: TlogProof = text.parse().unwrap();
            assert_eq!(read, proof, "{text}");
            assert_eq!(read.verify(&leaf, &key).unwrap().head().size, size);
        }
    }

    #[test]
    fn every_changed_bit_of_the_text_is_refused() {
        let (proof, leaf, key) = proof(None, 2, 5);
        let text = proof.to_string().into_bytes();
        for bit in 0..text.len() * 8 {
            let mut changed = text.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let Ok(changed) = String::from_utf8(changed) else {
                continue;
            };
            let refused = changed
                .parse::<TlogProof>()
                .map_or(true, |proof| proof.verify(&leaf, &key).is_err());
            assert!(refused, "bit {bit}: {changed}");
        }
    }

    #[test]
    fn a_proof_of_another_leaf_or_key_is_refused() {
        let (proof, leaf, key) = proof(None, 2, 5);
        let other = Hash::of_leaf(b"other");
        assert!(matches!(
            proof.verify(&other, &key),
            Err(TlogProofError::Inclusion(_))
        ));
        let stranger = SigningKey::from_seed(key.name().clone(), &[8; 32]).unwrap();
        assert!(matches!(
            proof.verify(&leaf, stranger.verifier()),
            Err(TlogProofError::Checkpoint(_))
        ));
    }

    #[test]
    fn what_is_not_a_proof_is_refused() {
        let (proof, ..) = proof(Some(b"x"), 2, 5);
        let text = proof.to_string();
        for (changed, error) in [
            (String::new(), TlogProofTextError::Header),
            (text.replace("@v1", "@v2"), TlogProofTextError::Header),
            (text.replace("extra ", "extra !"), TlogProofTextError::Extra),
            (text.replace("index 2", "index 02"), TlogProofTextError::Index),
            (text.replace("index 2", "index +2"), TlogProofTextError::Index),
            (text.replace("index 2\n", ""), TlogProofTextError::Index),
            (text.replace("\n\n", "\n"), TlogProofTextError::Checkpoint),
            ("c".repeat(TlogProof::BYTES_MAX + 1), TlogProofTextError::TooLong),
        ] {
            assert_eq!(changed.parse::<TlogProof>(), Err(error), "{changed}");
        }
    }
}
