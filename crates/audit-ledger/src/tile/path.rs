//! Tile paths: `tile/<L>/<N>[.p/<W>]` (C2SP `tlog-tiles`, section "Merkle Tree").

use super::{TileError, TileId};
use std::fmt;
use std::str::FromStr;

/// The longest path: level 0, six groups of digits, a width of three digits.
const PATH_BYTES_MAX: usize = "tile/0/x018/x014/x398/x509/x481/983.p/255".len();

/// The path in a URL or directory. The index is written in groups of three digits, with an `x` before each group except the
/// last. The width is written only for partial tiles.
impl fmt::Display for TileId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "tile/{}/", self.level())?;
        let mut divisor = 1;
        while self.index() / divisor >= 1_000 {
            divisor *= 1_000;
        }
        while divisor > 1 {
            write!(formatter, "x{:03}/", self.index() / divisor % 1_000)?;
            divisor /= 1_000;
        }
        write!(formatter, "{:03}", self.index() % 1_000)?;
        if !self.is_full() {
            write!(formatter, ".p/{}", self.width())?;
        }
        Ok(())
    }
}

impl FromStr for TileId {
    type Err = TileError;

    fn from_str(text: &str) -> Result<Self, TileError> {
        if text.len() > PATH_BYTES_MAX {
            return Err(TileError::Path);
        }
        let (level, index, width) = read(text).ok_or(TileError::Path)?;
        let id = Self::new(level, index, width)?;
        // Another encoding of the same numbers (more or fewer zeros, a sign, `.p/256`) is not the path of the tile.
        if id.to_string() != text {
            return Err(TileError::Path);
        }
        Ok(id)
    }
}

fn read(text: &str) -> Option<(u8, u64, u16)> {
    let (level, rest) = text.strip_prefix("tile/")?.split_once('/')?;
    let (groups, width) = match rest.split_once(".p/") {
        Some((groups, width)) => (groups, width.parse().ok()?),
        None => (rest, TileId::WIDTH_MAX),
    };
    let index = groups.split('/').try_fold(0_u64, |index, group| {
        let digits = group.strip_prefix('x').unwrap_or(group);
        index.checked_mul(1_000)?.checked_add(digits.parse().ok()?)
    })?;
    Some((level.parse().ok()?, index, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_agree_with_the_specification() {
        for (level, index, width, path) in [
            (0, 0, 256, "tile/0/000"),
            (0, 999, 256, "tile/0/999"),
            (1, 1_000, 255, "tile/1/x001/000.p/255"),
            (0, 1_234_067, 256, "tile/0/x001/x234/067"),
            (2, 1_234_067, 1, "tile/2/x001/x234/067.p/1"),
            (0, 1_000_000, 256, "tile/0/x001/x000/000"),
            (7, 0, 64, "tile/7/000.p/64"),
            (
                0,
                18_014_398_509_481_983,
                255,
                "tile/0/x018/x014/x398/x509/x481/983.p/255",
            ),
        ] {
            let id = TileId::new(level, index, width).unwrap();
            assert_eq!(id.to_string(), path);
            assert_eq!(path.parse(), Ok(id));
        }
    }

    #[test]
    fn a_path_has_one_encoding() {
        for path in [
            "",
            "tile",
            "tile/",
            "tile/0",
            "tile/0/",
            "tile/0/0",
            "tile/0/00",
            "tile/0/0000",
            "tile/0/x000",
            "tile/0/x000/000",
            "tile/0/001/000",
            "tile/0/x001/x000",
            "tile/0/x1/000",
            "tile/0/X001/000",
            "tile/0/x001/000/",
            "tile/0/x001//000",
            "/tile/0/000",
            "tile/00/000",
            "tile/+0/000",
            "tile/0/+00",
            "tile/0/-01",
            "tile/0/000.p",
            "tile/0/000.p/",
            "tile/0/000.p/0",
            "tile/0/000.p/07",
            "tile/0/000.p/+7",
            "tile/0/000.p/256",
            "tile/0/000.p/257",
            "tile/0/000.p/65536",
            "tile/0/000.p/7.p/7",
            "tile/0/000.p/7/",
            "tile/0/000 ",
            "tile/entries/000",
            "tile/data/000",
            "tile/8/0/000",
            "tile/0/x001/x018/x014/x398/x509/x481/983.p/255",
        ] {
            assert!(path.parse::<TileId>().is_err(), "{path}");
        }
    }

    #[test]
    fn a_tile_that_no_tree_has_is_refused() {
        for path in [
            "tile/0/x018/x014/x398/x509/x481/984",
            "tile/0/x999/x999/x999/x999/x999/999",
            "tile/7/000",
            "tile/7/000.p/65",
            "tile/7/001.p/1",
            "tile/8/000.p/1",
            "tile/63/000.p/1",
            "tile/255/000.p/1",
        ] {
            assert!(
                matches!(path.parse::<TileId>(), Err(TileError::Range { .. })),
                "{path}"
            );
        }
        assert_eq!("tile/256/000.p/1".parse::<TileId>(), Err(TileError::Path));
    }
}
