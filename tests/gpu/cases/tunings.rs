//! Sizes of kernels other than the default ones.

use wavelane::Op;
use wavelane::primitive::{Predicate, Tuning};

use super::scan::Shape;
use super::{reduce, scan, select};
use crate::algebra;
use crate::harness::Table;

pub fn rows(table: &mut Table) {
    for (workgroup, rows, max_groups) in [(128, 1, 1), (256, 3, 7), (512, 8, 3), (1024, 1, 2), (128, 32, 2)] {
        let tuning = Tuning::new(workgroup, rows, max_groups);
        table.add(format!("tuning/{workgroup}x{rows}x{max_groups}"), move |env| {
            let limits = env.gpu.limits();
            if workgroup > limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x) {
                return;
            }
            let tile = (workgroup * rows * 4) as usize;
            let groups = max_groups as usize;
            let sizes = [1, tile - 1, tile, tile + 1, groups * tile, groups * tile + 1, 3 * groups * tile + 77];
            reduce::check(env, &algebra::last_nonzero(), tuning, &sizes);
            scan::check(env, &algebra::builtin::<u32>(Op::Add), Shape::default(), tuning, &sizes);
            let predicate = Predicate::wgsl("(x & 1u) == 0u");
            select::check(env, &algebra::builtin::<u32>(Op::Add), predicate, |x, _| x & 1 == 0, tuning, &sizes);
        });
    }
}
