//! Reproducible pseudorandom numbers.

/// SplitMix64, a fast generator without cryptographic strength.
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

    /// A number in `0..end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        // The bias of the remainder is below 2^-40 for the values of `end` used here.
        self.next() % end.max(1)
    }

    /// A number in `0..end`, small ones more often: the square of a uniform distribution.
    pub(crate) fn skewed(&mut self, end: u64) -> u64 {
        let fraction = self.below(1 << 24) as f64 / f64::from(1 << 24);
        (fraction * fraction * end as f64) as u64
    }

    /// True with a probability of `permille` / 1000.
    pub(crate) fn chance(&mut self, permille: u64) -> bool {
        self.below(1_000) < permille
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }
}

/// The finalizer of SplitMix64: a bijection, so distinct numbers stay distinct.
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
    fn mixing_keeps_numbers_distinct() {
        let mixed: HashSet<u64> = (0..100_000).map(mix).collect();
        assert_eq!(mixed.len(), 100_000);
    }

    #[test]
    fn drawn_numbers_stay_in_their_range() {
        let mut random = Random::new(7);
        for _ in 0..10_000 {
            assert!(random.below(10) < 10);
            assert!(random.skewed(10) < 10);
        }
        let hits = (0..100_000).filter(|_| random.chance(20)).count();
        assert!((1_500..2_500).contains(&hits), "{hits}");
    }
}
