//! Random programs: the simulator at 4, 8 and 16 lanes and lavapipe agree.
//!
//! `WAVELANE_PROGRAMS` sets how many there are, `WAVELANE_SEED` the first one's seed.

use crate::device::{Device, Job};
use crate::program::{BUFFERS, Dice, Program, Subgroups};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number: {text}")))
}

fn run(device: &Device, program: &Program) -> Vec<Vec<u32>> {
    let mut dice = Dice::new(1);
    let mut buffers = BUFFERS.map(|words| vec![0; words]);
    buffers[0].fill_with(|| dice.word());
    let runs = [("main".to_string(), [1, 1, 1])];
    device.run(&Job {
        source: &program.text(),
        runs: &runs,
        overrides: &[],
        buffers: &buffers,
        others: &Default::default(),
    })
}

/// Runs random programs on the first device and on the others, until one differs: then the program is shrunk and shown.
fn compare(first: &Device, others: &[&Device], subgroups: Subgroups, default: u64) {
    let (seed, count) = (setting("WAVELANE_SEED", 1), setting("WAVELANE_PROGRAMS", default));
    for seed in seed..seed + count {
        let program = Program::random(seed, subgroups);
        let expected = run(first, &program);
        for other in others {
            if run(other, &program) == expected {
                continue;
            }
            let shrunk = program.shrunk(|program| run(first, program) != run(other, program));
            let differences = run(first, &shrunk).into_iter().zip(run(other, &shrunk)).enumerate().flat_map(
                |(binding, (expected, got))| {
                    let pairs = expected.into_iter().zip(got).enumerate().filter(|(_, (x, y))| x != y);
                    pairs.map(move |(at, (x, y))| format!("binding {binding} [{at}]: {x:#x}, {y:#x}\n"))
                },
            );
            let differences: String = differences.take(8).collect();
            panic!("seed {seed}, {} and {}:\n{differences}\n{}", first.name, other.name, shrunk.text());
        }
    }
    println!("{count} programs, {} devices", 1 + others.len());
}

#[test]
fn random_programs_give_the_same_everywhere() {
    let [first, others @ ..] = &Device::all_simulated();
    let lavapipe = Device::lavapipe();
    let others: Vec<_> = others.iter().chain(&lavapipe).collect();
    compare(first, &others, Subgroups::Quads, 60);
}

#[test]
fn random_programs_of_subgroup_operations_give_the_same_at_one_width() {
    let Some(lavapipe) = Device::lavapipe() else { return };
    compare(&Device::simulated(lavapipe.lanes), &[&lavapipe], Subgroups::Everywhere, 60);
}
