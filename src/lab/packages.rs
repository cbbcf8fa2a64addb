//! A real graph, for the experiments about uneven work: which of Debian's packages depend on which.
//!
//! data/README.md says where it comes from. Its rows are as uneven as those of most sparse matrices: most have a few
//! entries, some have hundreds.

/// The longest row that one lane or workgroup takes. Programs cut longer ones: the longest row would otherwise be all that
/// a measurement sees of the others.
pub(super) const LONGEST_ROW: u32 = 64;

/// The graph, package by package in the order of their names.
#[derive(Clone, Debug)]
pub(super) struct Packages {
    /// How many packages this one depends on.
    pub(super) dependencies: Vec<u32>,
    /// How many packages depend on this one.
    pub(super) dependents: Vec<u32>,
}

impl Packages {
    pub(super) fn debian() -> Self {
        let numbers = leb128(include_bytes!("../../data/packages.leb128"));
        Self {
            dependencies: numbers.iter().copied().step_by(2).collect(),
            dependents: numbers.iter().copied().skip(1).step_by(2).collect(),
        }
    }

    /// The lengths of the graph's rows, which are the packages with what they depend on. Longer ones than
    /// [`LONGEST_ROW`] are cut into pieces.
    pub(super) fn rows(&self) -> Vec<u32> {
        let mut rows = Vec::with_capacity(self.dependencies.len());
        for &length in &self.dependencies {
            let mut left = length;
            while left > LONGEST_ROW {
                rows.push(LONGEST_ROW);
                left -= LONGEST_ROW;
            }
            rows.push(left);
        }
        rows
    }
}

/// Unsigned LEB128: seven bits a byte, the lowest first, the highest bit set on all but the last byte of a number.
fn leb128(bytes: &[u8]) -> Vec<u32> {
    let mut numbers = Vec::with_capacity(bytes.len());
    let (mut number, mut shift) = (0, 0);
    for byte in bytes {
        number |= u32::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            numbers.push(number);
            (number, shift) = (0, 0);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_seven_bits_a_byte() {
        // The example of the DWARF standard among them: 624,485.
        assert_eq!(leb128(&[0, 127, 0x80, 1, 0xe5, 0x8e, 0x26]), [0, 127, 128, 624_485]);
    }

    #[test]
    fn the_graph_is_the_one_that_its_script_counted() {
        let packages = Packages::debian();
        assert_eq!((packages.dependencies.len(), packages.dependents.len()), (63_436, 63_436));
        // Both sides of the same edges.
        assert_eq!(packages.dependencies.iter().sum::<u32>(), 247_686);
        assert_eq!(packages.dependents.iter().sum::<u32>(), 247_686);
        assert_eq!((packages.dependencies.iter().max(), packages.dependents.iter().max()), (Some(&332), Some(&21_809)));
    }

    #[test]
    fn cut_rows_hold_what_the_graph_holds() {
        let graph = Packages { dependencies: vec![0, 3, 64, 65, 200], dependents: vec![] };
        assert_eq!(graph.rows(), [0, 3, 64, 64, 1, 64, 64, 64, 8]);
        assert_eq!(Packages::debian().rows().iter().sum::<u32>(), 247_686);
    }
}
