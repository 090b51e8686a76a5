//! Numbers that look random and are the same in every run.

/// SplitMix64: small, fast, and good enough to draw names with.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number from 0 to `end`, without `end` itself.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        // The bias of the remainder is below 2^-40 for everything drawn here.
        self.next() % end.max(1)
    }

    /// Small numbers often, large ones seldom: the square of an even distribution.
    pub(crate) fn skewed(&mut self, end: u64) -> u64 {
        let fraction = self.below(1 << 24) as f64 / f64::from(1 << 24);
        (fraction * fraction * end as f64) as u64
    }

    /// True `permille` times out of a thousand.
    pub(crate) fn happens(&mut self, permille: u64) -> bool {
        self.below(1_000) < permille
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }
}

/// A permutation of all 64-bit numbers: different numbers stay different, neighbours end up far apart.
pub(crate) const fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            (0..10).map(move |_| random.next()).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
    }

    #[test]
    fn mixing_keeps_numbers_apart() {
        let mixed: HashSet<u64> = (0..100_000).map(mix).collect();
        assert_eq!(mixed.len(), 100_000);
    }

    #[test]
    fn what_is_drawn_stays_in_its_bounds() {
        let mut random = Random::new(7);
        for _ in 0..10_000 {
            assert!(random.below(10) < 10);
            assert!(random.skewed(10) < 10);
        }
        let hits = (0..100_000).filter(|_| random.happens(20)).count();
        assert!((1_500..2_500).contains(&hits), "{hits}");
    }
}
