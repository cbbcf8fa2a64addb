//! Scan, over every element and operator: inclusive and exclusive, from a value of the caller's, in place, and between
//! ranges that do not begin alike.

use wavelane::primitive::{Count, Scan, ScanOptions, Tuning};
use wavelane::{Op, wgpu};

use super::{Visit, every_algebra};
use crate::algebra::{self, Algebra, Item};
use crate::harness::{Env, Table, assert_items};
use crate::oracle;

/// Which scan.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shape {
    pub(crate) exclusive: bool,
    pub(crate) initial: bool,
    pub(crate) in_place: bool,
    /// Whether output and input begin at different places within a pack.
    pub(crate) apart: bool,
}

pub(crate) fn rows(table: &mut Table) {
    struct Rows<'a>(&'a mut Table);
    impl Visit for Rows<'_> {
        fn visit<T: Item>(&mut self, needs: wgpu::Features, algebra: Algebra<T>) {
            let algebra = std::sync::Arc::new(algebra);
            for exclusive in [false, true] {
                let name = if exclusive { "scan_exclusive" } else { "scan_inclusive" };
                let algebra = algebra.clone();
                self.0.push(format!("{name}/{}", algebra.name), self.0.paths(3), needs, move |env| {
                    check_sizes(env, &algebra, Shape { exclusive, ..Default::default() });
                });
            }
        }
    }
    every_algebra(&mut Rows(table));
    let none = wgpu::Features::empty();
    shapes(table, none, || algebra::builtin::<u32>(Op::Add));
    shapes(table, none, || algebra::builtin::<f32>(Op::Min));
    shapes(table, none, || algebra::builtin::<[f32; 2]>(Op::Max));
    shapes(table, wgpu::Features::SHADER_INT64, || algebra::builtin::<u64>(Op::Max));
    shapes(table, none, algebra::affine);
    shapes(table, none, algebra::moments);
    shapes(table, none, algebra::matrix);
    shapes(table, none, algebra::last_nonzero);
}

/// The other shapes of a scan.
fn shapes<T: Item>(table: &mut Table, needs: wgpu::Features, algebra: fn() -> Algebra<T>) {
    let name = algebra().name;
    for (kind, initial, in_place, apart) in [
        ("initial", true, false, false),
        ("in_place", false, true, false),
        ("in_place_initial", true, true, false),
        ("apart", false, false, true),
        ("apart_initial", true, false, true),
    ] {
        // Items that are no packs never lie apart.
        if apart && size_of::<T>() != 4 {
            continue;
        }
        for exclusive in [false, true] {
            let shape = Shape { exclusive, initial, in_place, apart };
            let direction = if exclusive { "exclusive" } else { "inclusive" };
            table.push(format!("scan_{direction}_{kind}/{name}"), table.paths(3), needs, move |env| {
                check_sizes(env, &algebra(), shape);
            });
        }
    }
}

fn check_sizes<T: Item>(env: &Env, algebra: &Algebra<T>, shape: Shape) {
    let tuning = if env.main { Scan::<T>::default_tuning(&env.gpu) } else { env.tight() };
    check(env, algebra, shape, tuning, &env.sizes(tuning, size_of::<T>()));
}

/// Builds the plan.
pub(crate) fn plan<T: Item>(env: &Env, algebra: &Algebra<T>, shape: Shape, tuning: Tuning) -> Scan<T> {
    let operator = algebra.operator.clone();
    let mut options = match shape.exclusive {
        true => ScanOptions::exclusive(),
        false => ScanOptions::inclusive(),
    }
    .tuning(tuning);
    if shape.initial {
        options = options.initial(initial(algebra));
    }
    if shape.in_place {
        options = options.in_place();
    }
    Scan::with_options(&env.gpu, operator, options).expect("a valid plan")
}

fn initial<T: Item>(algebra: &Algebra<T>) -> T {
    algebra.items(10)[9]
}

/// What the scan of these items is.
pub(crate) fn want<T: Item>(algebra: &Algebra<T>, shape: Shape, items: &[T]) -> Vec<T> {
    let first = if shape.initial { initial(algebra) } else { algebra.identity };
    match shape.exclusive {
        true => oracle::scan_exclusive(first, &algebra.combine, items),
        false => oracle::scan_inclusive(first, &algebra.combine, items),
    }
}

/// Scans ranges of these sizes that begin at the elements 0 to 7, in turn, and compares.
pub(crate) fn check<T: Item>(env: &Env, algebra: &Algebra<T>, shape: Shape, tuning: Tuning, sizes: &[usize]) {
    let plan = plan(env, algebra, shape, tuning);
    let most = sizes.iter().max().expect("some sizes");
    let items = algebra.items(most + 8);
    let input = env.input(3, &items);
    let item = size_of::<T>() as u64;
    let mut calls = Vec::new();
    for (i, &n) in sizes.iter().enumerate() {
        let begin = i % 8;
        let count = Count::Host(n as u32);
        let (call, output) = match shape.in_place {
            true => {
                let output = env.input(i % 7, &items[begin..begin + n]);
                (plan.prepare_in_place(output.slice(), count), output)
            }
            false => {
                let first = input.first + begin as u64 * item;
                // The input's range begins at element 3 + begin of its buffer.
                let lead = if shape.apart { 4 + begin + i % 3 } else { 3 + begin + 4 * (i % 2) };
                let output = env.output::<T>(lead, n);
                (plan.prepare(input.buffer.slice(first..first + n as u64 * item), output.slice(), count), output)
            }
        };
        calls.push((call.expect("a valid call"), output, begin, n));
    }
    env.submit(&calls.iter().map(|(call, ..)| call).collect::<Vec<_>>());
    for (_, output, begin, n) in &calls {
        let want = want(algebra, shape, &items[*begin..begin + n]);
        assert_items(&env.read::<T>(output), &want, || format!("from element {begin}, {shape:?}, {tuning:?}"));
    }
}
