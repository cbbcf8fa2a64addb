//! Floats: bits that repeat, special values, sums that are not exact.

use wavelane::primitive::{Count, Reduce, Scan, ScanOptions};
use wavelane::{Gpu, Op};

use super::scan::Shape;
use super::{reduce, scan};
use crate::algebra::{Algebra, Item, builtin};
use crate::harness::{Env, Rng, Table, assert_items};
use crate::oracle;

pub(crate) fn rows(table: &mut Table) {
    table.add("floats/bits_repeat", bits_repeat);
    table.add_full("floats/sum_within_tolerance", tolerance);
    table.add("floats/special_reduce", special_reduce);
    table.add_full("floats/special_scan", special_scan);
    table.add("floats/nan_only_where_all_are", nan);
    table.add_full("floats/inexact_min_max", |env| {
        // Every size at which a padded lane could slip in.
        let sizes: Vec<usize> = (1..=70).collect();
        for op in [Op::Min, Op::Max] {
            reduce::check(env, &builtin::<f32>(op), env.tight(), &sizes);
            scan::check(env, &builtin::<f32>(op), Shape::default(), env.tight(), &sizes);
        }
    });
}

fn noise(n: usize) -> Vec<f32> {
    let mut rng = Rng::new(9);
    (0..n).map(|_| (rng.next() as i32) as f32 * 1.7e-6).collect()
}

fn run_reduce<T: Item>(env: &Env, plan: &Reduce<T>, items: &[T]) -> T {
    let (input, output) = (env.input(1, items), env.output::<T>(0, 1));
    let call = plan.prepare(input.slice(), output.slice(), Count::Host(items.len() as u32)).expect("a valid call");
    env.submit(&[&call]);
    env.read(&output)[0]
}

fn run_scan<T: Item>(env: &Env, plan: &Scan<T>, items: &[T]) -> Vec<T> {
    let (input, output) = (env.input(1, items), env.output::<T>(1, items.len()));
    let call = plan.prepare(input.slice(), output.slice(), Count::Host(items.len() as u32)).expect("a valid call");
    env.submit(&[&call]);
    env.read(&output)
}

/// The same plan, tuning, capacity and count: the same bits, whatever the timing and whoever built the plan.
fn bits_repeat(env: &Env) {
    let items = noise(20_011);
    let tuning = env.tight();
    let plans = || {
        let reduce = Reduce::<f32>::with_tuning(&env.gpu, Op::Add, tuning).expect("a valid plan");
        let options = ScanOptions::inclusive().tuning(tuning);
        (reduce, Scan::<f32>::with_options(&env.gpu, Op::Add, options).expect("a valid plan"))
    };
    let (reduce, scan) = plans();
    let (sum, sums) = (run_reduce(env, &reduce, &items), run_scan(env, &scan, &items));
    for _ in 0..5 {
        let (reduce, scan) = plans();
        assert_eq!(run_reduce(env, &reduce, &items).to_bits(), sum.to_bits());
        assert_items(&run_scan(env, &scan, &items), &sums, || "a second run".into());
    }
    // A count that the device reads, with the same capacity, changes nothing either.
    let (input, output) = (env.input(1, &items), env.output::<f32>(0, 1));
    let count = env.count(4, items.len() as u32);
    let count = Count::Gpu { count: count.slice(), capacity: items.len() as u32 };
    env.submit(&[&reduce.prepare(input.slice(), output.slice(), count).expect("a valid call")]);
    assert_eq!(env.read::<f32>(&output)[0].to_bits(), sum.to_bits());
}

/// Any order of n additions is off by at most (n - 1) u times the sum of the magnitudes, to first order.
fn tolerance(env: &Env) {
    for n in [10, 1000, 20_011] {
        let items = noise(n);
        let exact: f64 = items.iter().map(|x| f64::from(*x)).sum();
        let magnitude: f64 = items.iter().map(|x| f64::from(x.abs())).sum();
        let unit = f64::from(f32::EPSILON) / 2.0;
        let allowed = 1.01 * (n - 1) as f64 * unit * magnitude;
        let reduce = Reduce::<f32>::with_tuning(&env.gpu, Op::Add, env.tight()).expect("a valid plan");
        let sum = f64::from(run_reduce(env, &reduce, &items));
        assert!((sum - exact).abs() <= allowed, "{n} items: {sum}, not {exact} within {allowed}");
        let scan = Scan::<f32>::with_options(&env.gpu, Op::Add, ScanOptions::inclusive().tuning(env.tight()));
        let mut before = 0.0;
        for (i, got) in run_scan(env, &scan.expect("a valid plan"), &items).into_iter().enumerate() {
            before += f64::from(items[i]);
            assert!(
                (f64::from(got) - before).abs() <= allowed,
                "item {i} of {n}: {got}, not {before} within {allowed}"
            );
        }
    }
}

/// Short sequences of the values whose handling is easy to get wrong.
fn specials() -> Vec<Vec<f32>> {
    let values = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, f32::MAX, f32::MIN, 1e-40, -1e-40];
    let mut sequences = Vec::new();
    for a in values {
        sequences.push(vec![a]);
        for b in values {
            sequences.push(vec![a, b]);
            sequences.push([vec![a; 40], vec![b; 3], vec![a; 90]].concat());
        }
    }
    sequences
}

fn special_reduce(env: &Env) {
    for op in [Op::Min, Op::Max] {
        let algebra: Algebra<f32> = builtin(op);
        let plan = Reduce::<f32>::with_tuning(&env.gpu, op, env.tight()).expect("a valid plan");
        let sequences = specials();
        let calls: Vec<_> = sequences
            .iter()
            .map(|items| {
                let (input, output) = (env.input(1, items), env.output::<f32>(0, 1));
                let count = Count::Host(items.len() as u32);
                (plan.prepare(input.slice(), output.slice(), count).expect("a valid call"), output)
            })
            .collect();
        env.submit(&calls.iter().map(|(call, _)| call).collect::<Vec<_>>());
        for (items, (_, output)) in sequences.iter().zip(&calls) {
            let want = oracle::reduce(algebra.identity, &algebra.combine, items);
            assert_items(&env.read(output), &[want], || format!("{} of {:?}", op.name(), &items[..2.min(items.len())]));
        }
    }
}

fn special_scan(env: &Env) {
    for op in [Op::Min, Op::Max] {
        let algebra: Algebra<f32> = builtin(op);
        let plan = Scan::<f32>::with_options(&env.gpu, op, ScanOptions::exclusive().tuning(env.tight()));
        let plan = plan.expect("a valid plan");
        for items in specials() {
            let want = oracle::scan_exclusive(algebra.identity, &algebra.combine, &items);
            assert_items(&run_scan(env, &plan, &items), &want, || format!("{} of {:?}", op.name(), items[0]));
        }
    }
}

/// A sum has what IEEE 754 gives it; min and max are NaN where every item is, and of no items.
fn nan(env: &Env) {
    let reduce = |gpu: &Gpu, op| Reduce::<f32>::with_tuning(gpu, op, env.tight()).expect("a valid plan");
    let (add, mul) = (reduce(&env.gpu, Op::Add), reduce(&env.gpu, Op::Mul));
    let mut items = vec![1.0f32; 3000];
    items[1234] = f32::INFINITY;
    assert_eq!(run_reduce(env, &add, &items), f32::INFINITY);
    assert_eq!(run_reduce(env, &mul, &items), f32::INFINITY);
    items[2999] = f32::NEG_INFINITY;
    assert!(run_reduce(env, &add, &items).is_nan());
    assert_eq!(run_reduce(env, &mul, &items), f32::NEG_INFINITY);
    items[0] = f32::NAN;
    assert!(run_reduce(env, &mul, &items).is_nan());
    for op in [Op::Min, Op::Max] {
        let plan = reduce(&env.gpu, op);
        for n in [0, 1, 3, 500, 3000] {
            assert!(run_reduce(env, &plan, &vec![f32::NAN; n]).is_nan(), "{} of {n} NaN", op.name());
        }
        let mut items = vec![f32::NAN; 3000];
        items[1700] = -2.5;
        assert_eq!(run_reduce(env, &plan, &items), -2.5, "{} of one number among NaN", op.name());
    }
}
