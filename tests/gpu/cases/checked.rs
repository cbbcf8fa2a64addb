//! With wgpu's run-time checks in this crate's own kernels: the same results.

use wavelane::Op;
use wavelane::primitive::Predicate;
use wavelane::shader::Checks;

use super::scan::Shape;
use super::{reduce, scan, select};
use crate::algebra;
use crate::harness::{Env, Table};

pub(crate) fn rows(table: &mut Table) {
    table.add("checked/reduce/affine", |env| {
        let env = checked(env);
        reduce::check(&env, &algebra::affine(), env.tight(), &env.sizes(env.tight(), 8));
    });
    table.add_full("checked/reduce/min_f32", |env| {
        let env = checked(env);
        reduce::check(&env, &algebra::builtin::<f32>(Op::Min), env.tight(), &env.sizes(env.tight(), 4));
    });
    table.add_full("checked/scan/u32", |env| {
        let env = checked(env);
        let shape = Shape { in_place: true, ..Default::default() };
        scan::check(&env, &algebra::builtin::<u32>(Op::Add), shape, env.tight(), &env.sizes(env.tight(), 4));
    });
    table.add_full("checked/scan/moments", |env| {
        let env = checked(env);
        let shape = Shape { exclusive: true, ..Default::default() };
        scan::check(&env, &algebra::moments(), shape, env.tight(), &env.sizes(env.tight(), 12));
    });
    table.add("checked/select/u32", |env| {
        let env = checked(env);
        let (words, sizes) = (algebra::builtin::<u32>(Op::Add), env.sizes(env.tight(), 4));
        select::check(&env, &words, Predicate::wgsl("x > i"), |x, i| x > i, env.tight(), &sizes);
    });
}

fn checked(env: &Env) -> Env {
    let gpu = env.gpu.with_checks(Checks::Checked);
    assert_eq!((gpu.checks(), env.gpu.checks()), (Checks::Checked, Checks::Trusted));
    Env { adapter: env.adapter.clone(), gpu, main: env.main }
}
