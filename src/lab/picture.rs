//! The pictures that the experiments on images work on.

use super::oracle::scramble;

/// Rows of pixels, whole numbers from 0 to 255.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    pub(super) name: &'static str,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) pixels: Vec<f32>,
}

impl Picture {
    /// A gradient with noise: what a kernel costs that does the same for every pixel does not depend on the picture.
    pub(super) fn synthetic() -> Self {
        let (width, height) = (240, 135);
        let pixel = |index: u32| {
            let (x, y) = (index % width, index / width);
            (x / 2 + y / 2 + scramble(index) % 64) as f32
        };
        Self {
            name: "a synthetic gradient with noise",
            width,
            height,
            pixels: (0..width * height).map(pixel).collect(),
        }
    }

    /// A real one: data/README.md says whose.
    pub(super) fn photograph() -> Self {
        Self::pgm("a photograph", include_bytes!("../../data/camera.pgm"))
    }

    /// A binary PGM of 8 bits, without comments in its head: `P5`, width, height and 255, a white space after each.
    fn pgm(name: &'static str, file: &[u8]) -> Self {
        let mut words = file.splitn(5, u8::is_ascii_whitespace).skip(1);
        let mut number = || words.next().and_then(|word| str::from_utf8(word).ok()?.parse().ok()).unwrap_or(0);
        let (width, height, _white) = (number(), number(), number());
        let pixels = words.next().unwrap_or_default();
        Self { name, width, height, pixels: pixels.iter().copied().map(f32::from).collect() }
    }

    /// The pixel at this place of a plane that repeats the picture.
    pub(super) fn at(&self, x: u32, y: u32) -> f32 {
        self.pixels[(y % self.height * self.width + x % self.width) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_whole_and_repeat() {
        for picture in [Picture::synthetic(), Picture::photograph()] {
            assert_eq!(picture.pixels.len() as u32, picture.width * picture.height);
            assert!(picture.pixels.iter().all(|pixel| (0.0..256.0).contains(pixel) && pixel.fract() == 0.0));
            assert_eq!(picture.at(3, 5), picture.at(3 + picture.width, 5 + 2 * picture.height));
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        // 10 and 32 are white space as well, where they stand for pixels.
        let picture = Picture::pgm("two rows", b"P5\n3 2\n255\n\x0a\x20\xff\x00\x01\x02");
        assert_eq!((picture.width, picture.height), (3, 2));
        assert_eq!(picture.pixels, [10.0, 32.0, 255.0, 0.0, 1.0, 2.0]);
        let photograph = Picture::photograph();
        assert_eq!((photograph.width, photograph.height), (512, 512));
        // Summed up by another program.
        assert_eq!(photograph.pixels.iter().copied().map(f64::from).sum::<f64>(), 33_832_495.0);
    }
}
