//! The size of the index in bytes per event, for events like those of the benchmark.

use super::tokens::Tokens;
use audit_domain::{Facet, Facets, SearchedText};
use audit_index::{Block, BlockId, Blocks, Damaged, WriteBlocks, build_segment};

/// Counts the bytes of blocks, and stores none.
#[derive(Default)]
struct Size(usize);

impl Blocks for Size {
    type Error = Damaged;

    fn read(&mut self, _: BlockId) -> Result<Option<Block>, Damaged> {
        Ok(None)
    }
}

impl WriteBlocks for Size {
    fn write(&mut self, _: BlockId, bytes: &[u8]) -> Result<(), Damaged> {
        self.0 += bytes.len();
        Ok(())
    }
}

/// A sequence of numbers that look random (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) % end
    }

    /// Low numbers are more frequent.
    fn skewed(&mut self, end: u64) -> u64 {
        let bound = self.below(end) + 1;
        self.below(bound)
    }
}

/// Each with its category and the type of its targets.
const ACTIONS: [(&str, &str, &str); 12] = [
    ("document.viewed", "access", "document"),
    ("document.viewed", "access", "document"),
    ("document.viewed", "access", "document"),
    ("document.updated", "mutation", "document"),
    ("document.shared", "mutation", "document"),
    ("auth.login.succeeded", "auth", ""),
    ("auth.login.failed", "auth", ""),
    ("user.role.updated", "admin", "user"),
    ("user.invited", "admin", "user"),
    ("api_key.created", "admin", "api_key"),
    ("report.exported", "access", "report"),
    ("billing.invoice.paid", "mutation", "invoice"),
];
const NAMES: [&str; 20] = [
    "Maria", "Lopez", "Alice", "O'Neil", "Wei", "Chen", "Fatima", "Hassan", "Jonas", "Weber", "Priya",
    "Patel", "Olu", "Adeyemi", "Sofia", "Rossi", "Yuki", "Tanaka", "Lars", "Nielsen",
];
const WORDS: [&str; 12] = [
    "quarterly",
    "budget",
    "draft",
    "handbook",
    "roadmap",
    "meeting",
    "notes",
    "contract",
    "final",
    "review",
    "design",
    "plan",
];

/// The tokens of an event of one of `ledgers` ledgers.
fn tokens(numbers: &mut Numbers, ledgers: u64) -> String {
    let ledger_id = 1 + numbers.below(ledgers).cast_signed();
    let (action, category, target_type) = ACTIONS[numbers.below(12) as usize];
    let actor = numbers.skewed(2_000);
    let name = |index: u64| NAMES[(index % 20) as usize];
    let target = numbers.skewed(200_000);
    let word = |index: u64| WORDS[(index % 12) as usize];
    let has_target = !target_type.is_empty();
    let mut facets = Facets::default()
        .with(Facet::Action, action)
        .with(Facet::Category, category)
        .with(Facet::TenantId, format!("tenant_{:04}", numbers.skewed(300)))
        .with(Facet::ActorId, format!("usr_{actor:05}"))
        .with(Facet::ActorType, "user")
        .with_text(
            SearchedText::ActorName,
            format!("{} {}", name(actor), name(actor / 7 + 3)),
        );
    if has_target {
        facets = facets
            .with(Facet::TargetId, format!("{target_type}_{target:06}"))
            .with(Facet::TargetType, target_type)
            .with_text(
                SearchedText::TargetName,
                format!("{} {} {}", word(target), word(target / 5), target % 90),
            );
    }
    let key: Vec<u8> = (0..16).map(|_| numbers.below(256) as u8).collect();
    Tokens::of(ledger_id, &facets, Some(&key)).into_text()
}

/// Bytes per event of a segment.
fn event_bytes(events: i64, ledgers: u64) -> f64 {
    let mut numbers = Numbers(7);
    let rows: Vec<(i64, String)> = (0..events)
        .map(|position| (position, tokens(&mut numbers, ledgers)))
        .collect();
    let rows: Vec<(i64, &str)> = rows
        .iter()
        .map(|(position, tokens)| (*position, tokens.as_str()))
        .collect();
    let mut size = Size::default();
    build_segment(&rows, 1, &mut size).expect("nothing fails");
    size.0 as f64 / events as f64
}

/// Larger segments have fewer bytes per event: a million events of one ledger have 51, of 100 ledgers 81. The words of ids are 6 and 13
/// of them.
#[test]
fn the_index_of_eight_thousand_events_has_no_more_bytes_than_expected() {
    for (ledgers, bytes_max) in [(1, 61.0), (100, 120.0)] {
        let bytes = event_bytes(8_000, ledgers);
        assert!(bytes < bytes_max, "{bytes} bytes per event of {ledgers} ledgers");
    }
}
