//! The picture that the experiments on images work on.

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
        let picture = Picture::synthetic();
        assert_eq!(picture.pixels.len() as u32, picture.width * picture.height);
        assert!(picture.pixels.iter().all(|pixel| (0.0..256.0).contains(pixel) && pixel.fract() == 0.0));
        assert_eq!(picture.at(3, 5), picture.at(3 + picture.width, 5 + 2 * picture.height));
    }
}
