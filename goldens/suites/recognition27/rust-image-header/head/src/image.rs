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

/// An image with all its pixels, four bytes each.
pub struct Image {
    pub header: Header,
    pub pixels: Vec<u8>,
}

impl Image {
    /// Read a whole file.
    pub fn read(data: &[u8]) -> Option<Image> {
        let header = Header::parse(data)?;
        let size = header.width * header.height * 4;
        let pixels = data.get(HEADER..HEADER + size as usize)?.to_vec();
        Some(Image { header, pixels })
    }

    /// How bright a row is, to find the edges of a sheet.
    pub fn brightness(&self, row: usize) -> Option<u8> {
        let length = self.header.width as usize * 4;
        let bytes = self.pixels.chunks_exact(length.max(1)).nth(row)?;
        let total: u16 = bytes.iter().map(|&byte| u16::from(byte)).sum();
        Some((usize::from(total) / bytes.len()) as u8)
    }
}

fn word(data: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(data[at..at + 4].try_into().expect("four bytes"))
}
