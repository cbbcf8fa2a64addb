//! Reduce, over every element and operator.

use wavelane::primitive::{Count, Reduce, Tuning};
use wavelane::wgpu;

use super::{Visit, every_algebra};
use crate::algebra::{Algebra, Item};
use crate::harness::{Env, Table, assert_items};
use crate::oracle;

pub(crate) fn rows(table: &mut Table) {
    struct Rows<'a>(&'a mut Table);
    impl Visit for Rows<'_> {
        fn visit<T: Item>(&mut self, needs: wgpu::Features, algebra: Algebra<T>) {
            let name = format!("reduce/{}", algebra.name);
            self.0.push(name, self.0.paths(2), needs, move |env| {
                let tuning = if env.main { Reduce::<T>::default_tuning(&env.gpu) } else { env.tight() };
                check(env, &algebra, tuning, &env.sizes(tuning, size_of::<T>()));
            });
        }
    }
    every_algebra(&mut Rows(table));
}

/// Reduces ranges of these sizes that begin at the elements 0 to 7, in turn, and compares.
pub(crate) fn check<T: Item>(env: &Env, algebra: &Algebra<T>, tuning: Tuning, sizes: &[usize]) {
    let plan = Reduce::with_tuning(&env.gpu, algebra.operator.clone(), tuning).expect("a valid plan");
    let most = sizes.iter().max().expect("some sizes");
    let items = algebra.items(most + 8);
    let input = env.input(3, &items);
    let item = size_of::<T>() as u64;
    let mut calls = Vec::new();
    for (i, &n) in sizes.iter().enumerate() {
        let begin = i % 8;
        let first = input.first + begin as u64 * item;
        let output = env.output::<T>(i % 5, 1);
        let call = plan
            .prepare(input.buffer.slice(first..first + n as u64 * item), output.slice(), Count::Host(n as u32))
            .expect("a valid call");
        calls.push((call, output, begin, n));
    }
    env.submit(&calls.iter().map(|(call, ..)| call).collect::<Vec<_>>());
    for (_, output, begin, n) in &calls {
        let want = oracle::reduce(algebra.identity, &algebra.combine, &items[*begin..begin + n]);
        assert_items(&env.read::<T>(output), &[want], || format!("{n} items from element {begin}, {tuning:?}"));
    }
}
