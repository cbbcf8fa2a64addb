//! Sizes of kernels other than the default ones.

use wavelane::primitive::{Predicate, Tuning};
use wavelane::{Op, wgpu};

use super::scan::Shape;
use super::{reduce, scan, select};
use crate::algebra;
use crate::harness::{Paths, Table};

pub(crate) fn rows(table: &mut Table) {
    let flat = |workgroup, rows, max_groups| (Tuning::new(workgroup, rows, max_groups), "");
    for (tuning, deep) in [
        flat(128, 1, 1),
        flat(256, 3, 7),
        flat(512, 8, 3),
        flat(1024, 1, 2),
        flat(128, 32, 2),
        // A few workgroups of a tile each, then four tiles a workgroup, up to the most workgroups.
        (Tuning::new(128, 1, 9).deepened(3, 4), "_deep"),
    ] {
        let Tuning { workgroup, rows, max_groups, .. } = tuning;
        // Every row is written out, so many of them make long kernels.
        let paths = if rows < 8 { Paths::Full } else { Paths::Large };
        let name = format!("tuning/{workgroup}x{rows}x{max_groups}{deep}");
        table.push(name, paths, wgpu::Features::empty(), move |env| {
            let limits = env.gpu.limits();
            if workgroup > limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x) {
                return;
            }
            let tile = (workgroup * rows * 4) as usize;
            let groups = max_groups as usize;
            let mut sizes = vec![1, tile - 1, tile, tile + 1, groups * tile, groups * tile + 1, 3 * groups * tile + 77];
            let fill = tuning.fill_groups as usize;
            if fill < groups {
                let deep = tuning.tiles_per_group as usize;
                sizes.extend([fill * tile, fill * tile + 1, deep * fill * tile + 1, deep * groups * tile + 1]);
            }
            reduce::check(env, &algebra::last_nonzero(), tuning, &sizes);
            scan::check(env, &algebra::builtin::<u32>(Op::Add), Shape::default(), tuning, &sizes);
            let predicate = Predicate::wgsl("(x & 1u) == 0u");
            select::check(env, &algebra::builtin::<u32>(Op::Add), predicate, |x, _| x & 1 == 0, tuning, &sizes);
        });
    }
}
