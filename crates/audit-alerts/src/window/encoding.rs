//! The encoding of a group's state in the database.
//!
//! ```text
//! version        1 byte
//! revision       varint (LEB128), like all numbers below
//! last firing    0 if none, otherwise 1 + zigzag(time)
//! times          their number; if it is not 0, zigzag(newest time), then per time, newest first:
//!                    2 * distance to the next newer time, + 1 if it has more than one event
//!                    number of events - 2, if it has more than one
//! samples        16 bytes per id
//! ```
//!
//! A state of distinct values has version 2, and after the last firing:
//!
//! ```text
//! values         their number, at least 1; zigzag(newest time); then per value, newest first:
//!                    distance to the next newer time, 0 for the first
//!                    id of its newest event, 16 bytes
//!                    hash, 8 bytes
//! ```
//!
//! Times are milliseconds since the Unix epoch. A state has exactly one encoding.

use super::values::CountedValue;
use super::{Firing, GroupState, Occurrences, Sample};
use crate::bounds::Threshold;
use crate::rule::Revision;
use crate::value_hash::ValueHash;
use audit_domain::{EventId, Timestamp};
use std::collections::BTreeSet;

/// The bytes are not the encoding of a group's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The version byte is unknown.
    #[error("cannot read a group state of version {0}")]
    UnknownVersion(u8),
    /// The bytes end before the state does.
    #[error("the group state is truncated")]
    Truncated,
    /// Bytes follow the state.
    #[error("the group state has trailing bytes")]
    TrailingBytes,
    /// A number or a time is out of range, or a varint is not in its shortest form.
    #[error("the group state holds a number that is out of range")]
    OutOfRange,
    /// Times, samples or values are not sorted, or a value is there twice.
    #[error("the times, samples or values of the group state are not sorted")]
    Disordered,
}

const VERSION: u8 = 1;
const VERSION_OF_VALUES: u8 = 2;
const ID_BYTES: usize = 16;
/// No group has as many events. One half of the range is left, so that counting cannot overflow.
const EVENTS_MAX: u64 = u64::MAX / 2;

impl GroupState {
    /// Encodes the state: about 20 bytes for each of the newest ten events, two for every other; 27 bytes for each distinct value.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(24 + 3 * self.occurrences.len() + ID_BYTES * self.samples.len());
        bytes.push(match self.values.is_empty() {
            true => VERSION,
            false => VERSION_OF_VALUES,
        });
        write_varint(&mut bytes, u64::from(self.revision.number()));
        write_varint(
            &mut bytes,
            self.last_fired_millis.map_or(0, |millis| 1 + zigzag(millis)),
        );
        if let Some(newest) = self.values.first() {
            self.encode_values(newest, &mut bytes);
            return bytes;
        }
        write_varint(&mut bytes, self.occurrences.len() as u64);
        if let Some(newest) = self.newest_millis() {
            write_varint(&mut bytes, zigzag(newest));
            let mut later = newest;
            for held in self.occurrences.iter().rev() {
                let distance = later.abs_diff(held.millis) << 1;
                later = held.millis;
                if held.count == 1 {
                    write_varint(&mut bytes, distance);
                } else {
                    write_varint(&mut bytes, distance | 1);
                    write_varint(&mut bytes, held.count - 2);
                }
            }
        }
        for sample in &self.samples {
            bytes.extend_from_slice(&sample.id.to_bytes());
        }
        bytes
    }

    fn encode_values(&self, newest: &CountedValue, bytes: &mut Vec<u8>) {
        write_varint(bytes, self.values.len() as u64);
        write_varint(bytes, zigzag(newest.event.millis));
        let mut later = newest.event.millis;
        for CountedValue { event, value } in &self.values {
            write_varint(bytes, later.abs_diff(event.millis));
            later = event.millis;
            bytes.extend_from_slice(&event.id.to_bytes());
            bytes.extend_from_slice(value.as_bytes());
        }
    }

    /// Decodes the output of [`Self::encode`].
    ///
    /// # Errors
    /// [`DecodeError`] when the bytes are anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader { rest: bytes };
        let has_values = match reader.byte()? {
            VERSION => false,
            VERSION_OF_VALUES => true,
            version => return Err(DecodeError::UnknownVersion(version)),
        };
        let revision = u32::try_from(reader.varint()?).map_err(|_| DecodeError::OutOfRange)?;
        let last_fired_millis = match reader.varint()? {
            0 => None,
            fired => Some(checked_millis(unzigzag(fired - 1))?),
        };
        let (values, occurrences) = match has_values {
            true => (reader.values()?, Vec::new()),
            false => (Vec::new(), reader.occurrences()?),
        };
        let event_count = occurrences
            .iter()
            .try_fold(0_u64, |sum, held| sum.checked_add(held.count))
            .filter(|count| *count <= EVENTS_MAX)
            .ok_or(DecodeError::OutOfRange)?;
        let samples = reader.samples(&occurrences)?;
        if !reader.rest.is_empty() {
            return Err(DecodeError::TrailingBytes);
        }
        Ok(Self {
            revision: Revision::from_number(revision),
            last_fired_millis,
            occurrences,
            event_count,
            samples,
            values,
        })
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8, DecodeError> {
        let (first, rest) = self.rest.split_first().ok_or(DecodeError::Truncated)?;
        self.rest = rest;
        Ok(*first)
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (chunk, rest) = self.rest.split_first_chunk::<N>().ok_or(DecodeError::Truncated)?;
        self.rest = rest;
        Ok(*chunk)
    }

    fn varint(&mut self) -> Result<u64, DecodeError> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte has room for one bit. A last byte of zero would be a second encoding of the same number.
            if (bits << shift) >> shift != bits || (byte == 0 && shift > 0) {
                return Err(DecodeError::OutOfRange);
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(DecodeError::OutOfRange)
    }

    fn occurrences(&mut self) -> Result<Vec<Occurrences>, DecodeError> {
        let len = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
        if len > GroupState::TIMES_MAX {
            return Err(DecodeError::OutOfRange);
        }
        let mut occurrences = Vec::with_capacity(len);
        if len == 0 {
            return Ok(occurrences);
        }
        let mut millis = unzigzag(self.varint()?);
        for index in 0..len {
            let token = self.varint()?;
            let distance = token >> 1;
            if (distance == 0) != (index == 0) {
                return Err(DecodeError::Disordered);
            }
            millis = millis
                .checked_sub_unsigned(distance)
                .ok_or(DecodeError::OutOfRange)?;
            let count = match token & 1 {
                0 => 1,
                _ => self.varint()?.checked_add(2).ok_or(DecodeError::OutOfRange)?,
            };
            occurrences.push(Occurrences {
                millis: checked_millis(millis)?,
                count,
            });
        }
        occurrences.reverse();
        Ok(occurrences)
    }

    fn values(&mut self) -> Result<Vec<CountedValue>, DecodeError> {
        let len = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
        if !(1..=Threshold::MAX.get() as usize).contains(&len) {
            return Err(DecodeError::OutOfRange);
        }
        let mut millis = unzigzag(self.varint()?);
        let (mut values, mut hashes) = (Vec::with_capacity(len), BTreeSet::new());
        for index in 0..len {
            let distance = self.varint()?;
            if index == 0 && distance != 0 {
                return Err(DecodeError::OutOfRange);
            }
            millis = millis
                .checked_sub_unsigned(distance)
                .ok_or(DecodeError::OutOfRange)?;
            let event = Sample {
                millis: checked_millis(millis)?,
                id: EventId::from_bytes(self.chunk::<ID_BYTES>()?),
            };
            let value = ValueHash::from_bytes(self.chunk::<{ ValueHash::BYTES }>()?);
            if !hashes.insert(value) {
                return Err(DecodeError::Disordered);
            }
            values.push(CountedValue { event, value });
        }
        match values.is_sorted_by(|newer, older| newer.event >= older.event) {
            true => Ok(values),
            false => Err(DecodeError::Disordered),
        }
    }

    /// Samples are the newest events, so their times follow from `occurrences` and only their ids are encoded.
    fn samples(&mut self, occurrences: &[Occurrences]) -> Result<Vec<Sample>, DecodeError> {
        let times = occurrences.iter().rev().flat_map(|held| {
            let repeats = usize::try_from(held.count).unwrap_or(usize::MAX);
            std::iter::repeat_n(held.millis, repeats)
        });
        let samples = times
            .take(Firing::SAMPLE_EVENTS_MAX)
            .map(|millis| {
                let id = EventId::from_bytes(self.chunk::<ID_BYTES>()?);
                Ok(Sample { millis, id })
            })
            .collect::<Result<Vec<_>, DecodeError>>()?;
        if samples.is_sorted_by(|newer, older| newer >= older) {
            Ok(samples)
        } else {
            Err(DecodeError::Disordered)
        }
    }
}

fn checked_millis(millis: i64) -> Result<i64, DecodeError> {
    if (Timestamp::MIN.as_millis()..Timestamp::MAX.as_millis()).contains(&millis) {
        Ok(millis)
    } else {
        Err(DecodeError::OutOfRange)
    }
}

fn write_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Maps small numbers of either sign to small unsigned numbers.
const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
