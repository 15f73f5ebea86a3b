//! Images as the scanner delivers them.

use std::convert::TryInto;

/// Bytes of the header before the pixels.
pub const HEADER: usize = 12;

/// What the header of a file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub width: u32,
    pub height: u32,
    pub depth: u32,
}

impl Header {
    /// Read a header from the start of a file.
    pub fn parse(data: &[u8]) -> Option<Header> {
        if data.len() < HEADER {
            return None;
        }
        Some(Header {
            width: word(data, 0),
            height: word(data, 4),
            depth: word(data, 8),
        })
    }
}

fn word(data: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(data[at..at + 4].try_into().expect("four bytes"))
}
