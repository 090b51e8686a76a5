//! An event's place in its log as one number, by which SQLite orders the events of a database: ledger, then `seq`.

use crate::append::LedgerId;

/// Bits of an entry below the ledger: a million million events of eight million ledgers.
const SEQ_BITS: u32 = 40;
/// No ledger has so many events.
pub(crate) const SEQ_END: i64 = 1 << SEQ_BITS;

/// The entry of an event. A `seq` that no ledger reaches counts as the end of the ledger.
pub(crate) fn entry(ledger_id: LedgerId, seq: i64) -> i64 {
    (ledger_id.0 << SEQ_BITS) + seq.clamp(0, SEQ_END)
}

/// The ledger and `seq` of an entry.
pub(crate) const fn ledger_and_seq(entry: i64) -> (LedgerId, i64) {
    (LedgerId(entry >> SEQ_BITS), entry & (SEQ_END - 1))
}
