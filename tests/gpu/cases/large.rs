//! Many items: several tiles a workgroup, and more tiles than a dispatch has workgroups.

use wavelane::Op;
use wavelane::primitive::{Predicate, Reduce, Scan, Select, Tuning};

use super::scan::Shape;
use super::{reduce, scan, select};
use crate::algebra;
use crate::harness::Table;

/// Odd, with several tiles a workgroup.
const SIZES: [usize; 2] = [100_003, 1_000_003];

pub(crate) fn rows(table: &mut Table) {
    table.add_large("large/reduce/u32", |env| {
        reduce::check(env, &algebra::builtin::<u32>(Op::Add), Reduce::<u32>::default_tuning(&env.gpu), &SIZES);
    });
    table.add_large("large/reduce/f32", |env| {
        reduce::check(env, &algebra::builtin::<f32>(Op::Add), Reduce::<f32>::default_tuning(&env.gpu), &SIZES);
    });
    table.add_large("large/reduce/affine", |env| {
        reduce::check(env, &algebra::affine(), Reduce::<algebra::Affine>::default_tuning(&env.gpu), &SIZES);
    });
    table.add_large("large/scan_inclusive/f32", |env| {
        let tuning = Scan::<f32>::default_tuning(&env.gpu);
        scan::check(env, &algebra::builtin::<f32>(Op::Add), Shape::default(), tuning, &SIZES);
    });
    table.add_large("large/scan_exclusive/affine", |env| {
        let tuning = Scan::<f32>::default_tuning(&env.gpu);
        let shape = Shape { exclusive: true, ..Default::default() };
        scan::check(env, &algebra::affine(), shape, tuning, &SIZES);
    });
    table.add_large("large/scan_in_place/moments", |env| {
        let tuning = Scan::<f32>::default_tuning(&env.gpu);
        let shape = Shape { in_place: true, ..Default::default() };
        scan::check(env, &algebra::moments(), shape, tuning, &SIZES);
    });
    table.add_large("large/select/u32", |env| {
        let tuning = Select::<u32>::default_tuning(&env.gpu);
        let predicate = Predicate::wgsl("(x & 1u) == 0u");
        select::check(env, &algebra::builtin::<u32>(Op::Add), predicate, |x, _| x & 1 == 0, tuning, &SIZES);
    });
    // Tiles of 128 items: 65,537 of them and a bit, which 65,535 workgroups share out.
    const MANY: usize = 128 * 65_537 + 77;
    let tuning = Tuning::new(128, 1, 65_535);
    table.add_large("many_tiles/reduce/vec2_f32", move |env| {
        reduce::check(env, &algebra::builtin::<[f32; 2]>(Op::Max), tuning, &[MANY]);
    });
    table.add_large("many_tiles/scan_apart/u32", move |env| {
        let shape = Shape { apart: true, ..Default::default() };
        scan::check(env, &algebra::builtin::<u32>(Op::Add), shape, tuning, &[MANY]);
    });
    table.add_large("many_tiles/select/vec2_f32", move |env| {
        let predicate = Predicate::wgsl("x.x < x.y");
        select::check(env, &algebra::builtin::<[f32; 2]>(Op::Add), predicate, |x, _| x[0] < x[1], tuning, &[MANY]);
    });
}
