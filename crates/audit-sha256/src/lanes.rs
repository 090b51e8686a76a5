//! Eight messages at once: a vector has the same word of each of them.

use crate::{Block, State, blocks_of};
use sha2::block_api::compress256;
use std::arch::is_x86_feature_detected;
use std::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_or_si256, _mm256_set1_epi32, _mm256_setr_epi32,
    _mm256_slli_epi32, _mm256_srli_epi32, _mm256_xor_si256,
};
use std::ops::Range;

/// Messages in a vector.
const LANES: usize = 8;

/// Word `w` of the state of lane `l` is `states[w][l]`.
type Lanes = [[u32; LANES]; 8];

/// The constants of the rounds (FIPS 180-4 §4.2.2).
const K: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

/// A function that compresses one block of each lane. It exists only on a processor that can run it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel(Features);

#[derive(Clone, Copy, Debug)]
enum Features {
    Avx2,
    Avx512,
}

impl Kernel {
    pub(crate) fn avx2() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(Features::Avx2))
    }

    pub(crate) fn avx512() -> Option<Self> {
        let is_present = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl");
        is_present.then_some(Self(Features::Avx512))
    }

    fn run(self, states: &mut Lanes, blocks: [&Block; LANES]) {
        #[expect(unsafe_code, reason = "the functions need features of the processor")]
        // SAFETY: a `Kernel` is made by `avx2` and `avx512` alone, after they have detected the features of its function.
        unsafe {
            match self.0 {
                Features::Avx2 => compress_avx2(states, blocks),
                Features::Avx512 => compress_avx512(states, blocks),
            }
        }
    }

    /// [`crate::Implementation::compress`]. A lane whose message ends takes the next one. The last message is finished without
    /// vectors, because it would be alone in them.
    pub(crate) fn compress(self, states: &mut [State], blocks: &[Block], starts: &[usize]) {
        const IDLE: &Block = &[0; 64];
        let mut waiting = (0..states.len()).map(|index| (index, blocks_of(index, starts, blocks.len())));
        let mut running: [Option<(usize, Range<usize>)>; LANES] = Default::default();
        let mut lanes: Lanes = Default::default();
        loop {
            for (lane, slot) in running.iter_mut().enumerate() {
                if slot.is_none() {
                    *slot = waiting.find(|(_, blocks)| !blocks.is_empty());
                    if let Some((index, _)) = slot {
                        lanes
                            .iter_mut()
                            .zip(&states[*index])
                            .for_each(|(to, from)| to[lane] = *from);
                    }
                }
            }
            if running.iter().flatten().count() <= 1 {
                break;
            }
            let block = |slot: &Option<(usize, Range<usize>)>| {
                slot.as_ref().map_or(IDLE, |(_, rest)| &blocks[rest.start])
            };
            self.run(&mut lanes, running.each_ref().map(block));
            for (lane, slot) in running.iter_mut().enumerate() {
                if let Some((index, rest)) = slot {
                    rest.start += 1;
                    if rest.start == rest.end {
                        states[*index] = state_of(&lanes, lane);
                        *slot = None;
                    }
                }
            }
        }
        for (lane, slot) in running.into_iter().enumerate() {
            if let Some((index, rest)) = slot {
                states[index] = state_of(&lanes, lane);
                compress256(&mut states[index], &blocks[rest]);
            }
        }
    }
}

fn state_of(lanes: &Lanes, lane: usize) -> State {
    lanes.each_ref().map(|words| words[lane])
}

/// The compression function (FIPS 180-4 §6.2.2) for processors with `$features`, of which the compiler makes use.
macro_rules! compression {
    ($name:ident, $features:literal) => {
        #[target_feature(enable = $features)]
        fn $name(states: &mut Lanes, blocks: [&Block; LANES]) {
            let load = |words: [u32; LANES]| {
                let [a, b, c, d, e, f, g, h] = words.map(u32::cast_signed);
                _mm256_setr_epi32(a, b, c, d, e, f, g, h)
            };
            let add = |a, b| _mm256_add_epi32(a, b);
            let xor = |a, b| _mm256_xor_si256(a, b);
            let and = |a, b| _mm256_and_si256(a, b);
            macro_rules! rotate {
                ($x:expr, $by:literal) => {
                    _mm256_or_si256(_mm256_srli_epi32::<$by>($x), _mm256_slli_epi32::<{ 32 - $by }>($x))
                };
            }
            let mut w: [__m256i; 16] = std::array::from_fn(|t| load(blocks.map(|block| u32::from_be_bytes(block.as_chunks().0[t]))));
            let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = states.map(load);
            macro_rules! round {
                ($a:ident, $b:ident, $c:ident, $d:ident, $e:ident, $f:ident, $g:ident, $h:ident, $first:expr, $t:literal) => {{
                    let k = _mm256_set1_epi32(K[$first + $t].cast_signed());
                    let sum = xor(xor(rotate!($e, 6), rotate!($e, 11)), rotate!($e, 25));
                    let choice = xor($g, and($e, xor($f, $g)));
                    let mixed = add(add(add($h, sum), add(choice, k)), w[$t]);
                    $d = add($d, mixed);
                    let sum = xor(xor(rotate!($a, 2), rotate!($a, 13)), rotate!($a, 22));
                    let majority = _mm256_or_si256(and($a, $b), and($c, _mm256_or_si256($a, $b)));
                    $h = add(mixed, add(sum, majority));
                }};
            }
            macro_rules! extend {
                ($t:literal) => {{
                    let (x, y) = (w[($t + 1) % 16], w[($t + 14) % 16]);
                    let x = xor(xor(rotate!(x, 7), rotate!(x, 18)), _mm256_srli_epi32::<3>(x));
                    let y = xor(xor(rotate!(y, 17), rotate!(y, 19)), _mm256_srli_epi32::<10>(y));
                    w[$t] = add(add(w[$t], x), add(w[($t + 9) % 16], y));
                }};
            }
            for first in [0, 16, 32, 48] {
                if first > 0 {
                    extend!(0); extend!(1); extend!(2); extend!(3); extend!(4); extend!(5); extend!(6); extend!(7);
                    extend!(8); extend!(9); extend!(10); extend!(11); extend!(12); extend!(13); extend!(14); extend!(15);
                }
                round!(a, b, c, d, e, f, g, h, first, 0);
                round!(h, a, b, c, d, e, f, g, first, 1);
                round!(g, h, a, b, c, d, e, f, first, 2);
                round!(f, g, h, a, b, c, d, e, first, 3);
                round!(e, f, g, h, a, b, c, d, first, 4);
                round!(d, e, f, g, h, a, b, c, first, 5);
                round!(c, d, e, f, g, h, a, b, first, 6);
                round!(b, c, d, e, f, g, h, a, first, 7);
                round!(a, b, c, d, e, f, g, h, first, 8);
                round!(h, a, b, c, d, e, f, g, first, 9);
                round!(g, h, a, b, c, d, e, f, first, 10);
                round!(f, g, h, a, b, c, d, e, first, 11);
                round!(e, f, g, h, a, b, c, d, first, 12);
                round!(d, e, f, g, h, a, b, c, first, 13);
                round!(c, d, e, f, g, h, a, b, first, 14);
                round!(b, c, d, e, f, g, h, a, first, 15);
            }
            for (words, added) in states.iter_mut().zip([a, b, c, d, e, f, g, h]) {
                #[expect(unsafe_code, reason = "a vector has no other way to memory")]
                // SAFETY: both types have 32 bytes, and every bit pattern is a value of both.
                let added: [u32; LANES] = unsafe { std::mem::transmute(added) };
                words.iter_mut().zip(added).for_each(|(word, added)| *word = word.wrapping_add(added));
            }
        }
    };
}

compression!(compress_avx2, "avx2");
compression!(compress_avx512, "avx2,avx512f,avx512vl");
