//! The entry of an event: ledger and `seq` as one number, the row id of `events` (ledger << 40 + `seq`).

use crate::ids::LedgerId;

/// Bits of `seq`: 2^40 events in each of 2^23 ledgers.
const SEQ_BITS: u32 = 40;
/// The end of every ledger.
pub(crate) const SEQ_END: i64 = 1 << SEQ_BITS;

/// The entry of an event. A `seq` out of range is clamped to the ledger.
pub(crate) fn entry(ledger_id: LedgerId, seq: i64) -> i64 {
    (ledger_id.0 << SEQ_BITS) + seq.clamp(0, SEQ_END)
}

/// The ledger and `seq` of an entry.
pub(crate) const fn ledger_and_seq(entry: i64) -> (LedgerId, i64) {
    (LedgerId(entry >> SEQ_BITS), entry & (SEQ_END - 1))
}
