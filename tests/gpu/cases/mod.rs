//! The rows of the table.

mod blocks;
mod checked;
mod counts;
mod errors;
mod faults;
mod floats;
mod large;
mod reduce;
mod scan;
mod select;
mod slices;
mod tunings;
mod workspace;

use wavelane::{Op, wgpu};

use crate::algebra::{self, Algebra, Item, Sample};
use crate::harness::{Case, Table};

/// Every row.
pub(crate) fn all() -> Vec<Case> {
    let mut table = Table::default();
    reduce::rows(&mut table);
    scan::rows(&mut table);
    select::rows(&mut table);
    counts::rows(&mut table);
    floats::rows(&mut table);
    workspace::rows(&mut table);
    tunings::rows(&mut table);
    checked::rows(&mut table);
    slices::rows(&mut table);
    blocks::rows(&mut table);
    large::rows(&mut table);
    errors::rows(&mut table);
    faults::rows(&mut table);
    table.0
}

/// What is done with each operator of the table.
trait Visit {
    fn visit<T: Item>(&mut self, needs: wgpu::Features, algebra: Algebra<T>);
}

/// Every built-in operator over every element that it is defined for, and the operators of one's own.
fn every_algebra(visit: &mut impl Visit) {
    fn builtins<T: Sample>(needs: wgpu::Features, visit: &mut impl Visit) {
        for op in Op::ALL {
            if op.is_defined_for(&T::TYPE) {
                visit.visit::<T>(needs, algebra::builtin(op));
            }
        }
    }
    let none = wgpu::Features::empty();
    builtins::<u32>(none, visit);
    builtins::<i32>(none, visit);
    builtins::<f32>(none, visit);
    builtins::<u64>(wgpu::Features::SHADER_INT64, visit);
    builtins::<i64>(wgpu::Features::SHADER_INT64, visit);
    builtins::<[f32; 2]>(none, visit);
    builtins::<[u32; 4]>(none, visit);
    visit.visit(none, algebra::affine());
    visit.visit(none, algebra::matrix());
    visit.visit(none, algebra::moments());
    visit.visit(none, algebra::moments().commutative());
    visit.visit(none, algebra::bounds());
    visit.visit(none, algebra::gcd());
    visit.visit(none, algebra::gcd().commutative());
    visit.visit(none, algebra::first_nonzero());
    visit.visit(none, algebra::last_nonzero());
}
