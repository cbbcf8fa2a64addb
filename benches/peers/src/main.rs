//! Our primitives against those of other libraries, on one adapter and in one run.
//!
//! ```text
//! cargo run --release --manifest-path benches/peers/Cargo.toml -- --sizes 16,20,24
//! ```
//!
//! prints one CSV row a case, `primitive,element,items,ours_ns,peer,peer_ns,peer_over_ours`, and progress on stderr. The
//! last column is how many times faster ours is. The program ends with 1 where any result was wrong, or any of our own
//! calls failed.
//!
//! # What makes the comparison fair
//!
//! - One adapter, one device, one queue: lampshade works on the device that ours works on, made with all limits of the
//!   adapter and with its subgroup feature. Input and output are the same buffers.
//! - Every contender's result is compared, item by item, with the host's answer before anything is timed, on wiped
//!   buffers. A wrong result is an error and gives no row.
//! - Only the GPU's work is timed, and all of it: each library records into a command encoder of ours, between two
//!   timestamps, so that clears, every pass and the gaps between passes count. Host time (lampshade makes its bind
//!   groups while recording, ours has made them before) does not. Where a device has no timestamps in encoders, all is
//!   timed by the wall clock around submission and wait, and stderr says so.
//! - A timestamp in an encoder also counts the start of the first and the end of the last pass, a few microseconds on
//!   some devices: the same for both, which favours the slower.
//! - A full load of at least a second comes before the first sample of each case (a GPU that was idle is several times
//!   slower). Contenders take turns within each round, and each round begins with another one. One run of each goes
//!   before, unsampled, in which buffers grow. The figures are medians.
//! - The peer gets its fastest way: where a library has several, such as with subgroups and without, all are verified
//!   and timed, and the row names the fastest. lampshade selects by a mask: one row counts making the mask, which is
//!   the same work as ours, another leaves it out.
//! - Rows of `read ceiling` and `copy ceiling` are no peer but the fastest kernel known here that moves as many bytes as
//!   the primitive must: each item read once (reduce), or read once and written once (scan). Both that kernel and ours
//!   are timed by timestamps at the ends of their pass, so `ours_ns` differs from that of the peers' rows;
//!   `peer_over_ours` is the share of the ceiling that ours reaches.
//! - CUB (`--cub`) runs in a process of its own, with all its memory allocated beforehand and all launches queued ahead,
//!   and warms up for 1.5 s; ours warms up again after it. They take turns over three rounds. CUDA's events stand next
//!   to its kernels; our timestamps are at the ends of our pass.
//!
//! Data: 32-bit hashes of the index; floats are small whole numbers, so that every order of adding gives the same sum.
//! Half of the items are selected.

mod args;
mod case;
mod cub;
mod item;
mod peer;
mod timer;

use std::io::Write as _;
use std::process::ExitCode;

use wavelane::Gpu;
use wavelane::measure::{Ceilings, Effort, Sampler};
use wavelane::primitive::Prepared;

use args::Args;
use case::{Case, Primitive};
use item::{Item, Keep};
use timer::{Contender, Timer, Work};

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

const HEADER: &str = "primitive,element,items,ours_ns,peer,peer_ns,peer_over_ours";

fn main() -> ExitCode {
    match Args::parse(std::env::args().skip(1)).and_then(|args| run(&args)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether everything was right.
fn run(args: &Args) -> Result<bool> {
    if args.help {
        print!("{}", args::USAGE);
        return Ok(true);
    }
    let gpu = open(args.adapter.as_deref())?;
    let timer = Timer::new(Sampler::new(&gpu, Effort::Quick)?, args.rounds);
    let mut bench = Bench { timer, gpu, args, right: true };
    let info = bench.gpu.info();
    eprintln!(
        "{} ({}, {} {}), subgroups {} of {} lanes; {}",
        info.name,
        info.backend,
        info.driver,
        info.driver_info,
        bench.gpu.path(),
        bench.gpu.lanes(),
        bench.timer.clock()
    );
    print_row(HEADER);
    for &log2 in &args.sizes {
        let items = 1u32 << log2;
        for &element in &args.elements {
            match element {
                u32::NAME => bench.size(items, Bench::peers),
                i32::NAME => bench.size::<i32>(items, Bench::no_peers),
                f32::NAME => bench.size::<f32>(items, Bench::no_peers),
                _ => bench.size::<u64>(items, Bench::no_peers),
            }
        }
    }
    Ok(bench.right)
}

/// A device for all: the features of both libraries, and all limits of the adapter.
fn open(wish: Option<&str>) -> Result<Gpu> {
    let adapters = wavelane::Adapters::find(None);
    let named = std::env::var("WGPU_ADAPTER_NAME").ok().filter(|name| !name.is_empty());
    let adapter = match wish.or(named.as_deref()) {
        Some(wish) => adapters.choose(wish)?,
        None => adapters.best()?,
    };
    let timestamps = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        label: Some("peers"),
        required_features: wavelane::requirements(adapter).features | (timestamps & adapter.features()),
        required_limits: adapter.limits(),
        memory_hints: wgpu::MemoryHints::Performance,
        ..Default::default()
    }))?;
    Ok(pollster::block_on(Gpu::from_device(adapter, &device, &queue))?)
}

struct Bench<'a> {
    gpu: Gpu,
    timer: Timer,
    args: &'a Args,
    /// Nothing was wrong so far.
    right: bool,
}

impl Bench<'_> {
    /// All rows of one size and element type. `peers` does what only some types have.
    fn size<T: Item>(&mut self, items: u32, peers: fn(&mut Self, &Case<T>, Primitive, &Prepared)) {
        let label = format!("2^{} {}", items.ilog2(), T::NAME);
        let missing = T::FEATURES - self.gpu.features();
        if !missing.is_empty() {
            return eprintln!("{label}: left out, this device has no {missing:?}");
        }
        let case = match Case::<T>::new(&self.gpu, items) {
            Ok(case) => case,
            Err(error) => return eprintln!("{label}: left out, {error}"),
        };
        let words = u64::from(items) * (size_of::<T>() as u64 / 4);
        let mut ceilings = None;
        for &primitive in &self.args.primitives {
            eprintln!("{} of {label}", primitive.name());
            let verified = verified(&case, primitive);
            let Some(call) = self.keep(verified) else { continue };
            peers(self, &case, primitive, &call);
            if primitive != Primitive::Select {
                if ceilings.is_none() {
                    let measured = Ceilings::measure(self.timer.sampler(), words);
                    ceilings = self.keep(measured).filter(|ceilings| ceilings.items == words);
                }
                if let Some(ceilings) = &ceilings {
                    let result = self.ceiling(&case, primitive, &call, ceilings);
                    self.keep(result);
                }
            }
        }
    }

    fn no_peers<T>(&mut self, _: &Case<T>, _: Primitive, _: &Prepared) {}

    fn peers(&mut self, case: &Case<u32>, primitive: Primitive, call: &Prepared) {
        let result = self.lampshade(case, primitive, call);
        self.keep(result);
        if let Some(program) = &self.args.cub {
            for (calls, name) in
                [(1, "cub".to_string()), (cub::IN_A_ROW, format!("cub; {} calls in a row", cub::IN_A_ROW))]
            {
                match cub::medians(&self.timer, program, case, primitive, calls) {
                    Ok([ours, cub]) => row(case, primitive, ours, &name, cub),
                    Err(error) => self.failed(&error.to_string()),
                }
            }
        }
    }

    fn lampshade(&mut self, case: &Case<u32>, primitive: Primitive, call: &Prepared) -> Result<()> {
        let encode = |encoder: &mut wgpu::CommandEncoder| {
            call.encode(encoder);
            Ok(())
        };
        let mut groups = Vec::new();
        let mut contenders = vec![Contender { name: "ours".into(), work: Work::Encoder(Box::new(encode)) }];
        for mut way in peer::ways(case, primitive)? {
            match case.verify(primitive, Keep::High, &mut *way.record) {
                Ok(()) => {
                    groups.push(way.group);
                    contenders.push(Contender { name: way.name, work: Work::Encoder(way.record) });
                }
                Err(error) => self.failed(&format!("{}: {error}", way.name)),
            }
        }
        let times = self.timer.medians(&mut contenders)?;
        let peers: Vec<_> = groups.iter().zip(contenders[1..].iter().zip(&times[1..])).collect();
        for (_, (peer, ns)) in &peers {
            eprintln!("  {}: {ns:.0} ns, ours {:.0}", peer.name, times[0]);
        }
        for (i, (group, _)) in peers.iter().enumerate() {
            let of_group = || peers.iter().filter(|(other, _)| other == group);
            let fastest = of_group().min_by(|a, b| a.1.1.total_cmp(b.1.1));
            // Once a group, where it begins.
            let begins = peers[..i].iter().all(|(other, _)| other != group);
            if let Some((_, (peer, ns))) = fastest.filter(|_| begins) {
                row(case, primitive, times[0], &peer.name, **ns);
            }
        }
        Ok(())
    }

    fn ceiling<T: Item>(
        &mut self,
        case: &Case<T>,
        primitive: Primitive,
        call: &Prepared,
        ceilings: &Ceilings,
    ) -> Result<()> {
        let work = Work::Pass(Box::new(|pass| call.record(pass)));
        let ours = self.timer.medians(&mut [Contender { name: "ours".into(), work }])?;
        let (name, ceiling) = match primitive {
            Primitive::Reduce => ("read ceiling", &ceilings.read),
            Primitive::Scan | Primitive::Select => ("copy ceiling", &ceilings.copy),
        };
        eprintln!("  {name}: {:.0} GB/s by {}", ceiling.gb_per_s(), ceiling.kernel);
        row(case, primitive, ours[0], name, ceiling.samples.median());
        Ok(())
    }

    /// The value, or a message and a mark that something was wrong.
    fn keep<T, E: std::fmt::Display>(&mut self, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.failed(&error.to_string())).ok()
    }

    fn failed(&mut self, message: &str) {
        eprintln!("  error: {message}");
        self.right = false;
    }
}

/// Our call, once its result was right.
fn verified<T: Item>(case: &Case<T>, primitive: Primitive) -> Result<Prepared> {
    let call = case.ours(primitive, Keep::High)?;
    let mut encode = |encoder: &mut wgpu::CommandEncoder| {
        call.encode(encoder);
        Ok(())
    };
    case.verify(primitive, Keep::High, &mut encode).map_err(|error| format!("ours: {error}"))?;
    Ok(call)
}

fn row<T: Item>(case: &Case<T>, primitive: Primitive, ours_ns: f64, peer: &str, peer_ns: f64) {
    let ratio = peer_ns / ours_ns;
    let (name, element, items) = (primitive.name(), T::NAME, case.items);
    print_row(&format!("{name},{element},{items},{ours_ns:.0},{peer},{peer_ns:.0},{ratio:.3}"));
}

/// At once, for those who read along.
fn print_row(row: &str) {
    println!("{row}");
    let _ = std::io::stdout().flush();
}
