//! A tile with its halo in workgroup memory against direct reads.

use super::grid::{CPU_GRID, not_here, unless_launch_bound};
use super::kernel::Launch;
use super::model::{FREE, halo_sectors, tile_gain, tile_sectors};
use super::oracle::scramble;
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::{Bench, Experiment, Simulated};
use crate::error::{Error, Result};
use crate::measure::{Effort, Samples};
use crate::report::{Row, Unit, Verdict};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "stencil",
    group: "workgroups",
    title: "A tile with a halo",
    claim: "A workgroup that loads a tile with its halo into workgroup memory once, behind one barrier, beats direct reads of \
            every neighbour, the more the larger the radius.",
    simulated: Simulated::Sectors,
    run,
};

/// Invocations of a workgroup, and pixels of each, one below the other.
const LANES: [u32; 2] = [32, 8];
const ROWS: u32 = 4;
/// Pixels of a workgroup.
const TILE: [u32; 2] = [LANES[0], LANES[1] * ROWS];

struct Kernels {
    radius: u32,
    direct: wgpu::ComputePipeline,
    tiled: wgpu::ComputePipeline,
}

struct Image {
    width: u32,
    height: u32,
    /// Floats of a row, and rows, with the border of the largest radius.
    pitch: u32,
    rows: u32,
    buffer: wgpu::Buffer,
    results: wgpu::Buffer,
}

/// Pixel `at`: a whole number below 256, so that sums of them are exact in whatever order.
fn pixel(at: u32) -> f32 {
    (scramble(at) % 256) as f32
}

impl Image {
    fn new(bench: &Bench<'_>, [width, height]: [u32; 2], radius: u32) -> Result<Self> {
        // A pitch that is no power of two, so that rows do not fall on the same places of a cache.
        let (pitch, rows) = (width + 2 * radius + 32, height + 2 * radius);
        let pixels: Vec<u32> = (0..pitch * rows).map(|at| pixel(at).to_bits()).collect();
        Ok(Self {
            buffer: bench.words_with("image", &pixels)?,
            results: bench.words("stencil", width * height)?,
            width,
            height,
            pitch,
            rows,
        })
    }

    /// The sum over the square whose upper left corner is at this result's place, as bits.
    fn expected(&self, index: u32, radius: u32) -> u32 {
        let (x, y) = (index % self.width, index / self.width);
        let side = 2 * radius + 1;
        let square = (y..y + side).flat_map(|y| (x..x + side).map(move |x| (x, y)));
        square.map(|(x, y)| pixel(y * self.pitch + x)).sum::<f32>().to_bits()
    }
}

impl Kernels {
    fn new(bench: &Bench<'_>, radius: u32) -> Result<Self> {
        let prelude = format!(
            "const TILE_X = {}u;\nconst TILE_Y = {}u;\nconst ROWS = {ROWS}u;\nconst RADIUS = {radius}u;",
            LANES[0], LANES[1]
        );
        let text = include_str!("../../shaders/lab/stencil.wgsl");
        Ok(Self {
            radius,
            direct: bench.pipeline("direct", &prelude, text)?,
            tiled: bench.pipeline("tiled", &prelude, text)?,
        })
    }

    /// Both ways, with their results compared.
    fn launches(&self, bench: &Bench<'_>, image: &Image) -> Result<[(String, Launch); 2]> {
        let params = bench.params(&[image.pitch, image.width])?;
        let (groups, rows) = (image.width / TILE[0], image.height / TILE[1]);
        let launch = |pipeline: &wgpu::ComputePipeline, name: &str| -> Result<(String, Launch)> {
            let buffers = [(0, &image.results), (1, &params), (2, &image.buffer)];
            let launch = bench.launch_grid(pipeline, &buffers, [groups, rows, 1]);
            let name = format!("radius {}, {name}", self.radius);
            bench.verify_stretches(
                &name,
                &image.results,
                |pass| launch.record(pass),
                |index| image.expected(index, self.radius),
            )?;
            Ok((name, launch))
        };
        Ok([launch(&self.direct, "direct")?, launch(&self.tiled, "tiled")?])
    }
}

/// The sectors of direct reads over those of a tile, with the results that both write.
fn spared_sectors(lanes: u32, image: &Image, radius: u32) -> f64 {
    let rows = f64::from(ROWS);
    let side = 2 * radius + 1;
    let square = (0..side).flat_map(|y| (0..side).map(move |x| y * image.pitch + x));
    let results = rows * tile_sectors(lanes, LANES, image.width, [0]);
    let direct = rows * tile_sectors(lanes, LANES, image.pitch, square);
    let tiled = halo_sectors(lanes, TILE, radius, image.pitch, LANES[0] * LANES[1]);
    (direct + results) / (f64::from(tiled) + results)
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let is_small = bench.gpu.is_cpu();
    let radii: &[u32] = match bench.effort {
        _ if is_small => &[1, 4],
        Effort::Quick => &[1, 2, 4, 8, 16],
        Effort::Full => &[1, 2, 3, 4, 6, 8, 12, 16],
    };
    let size = if is_small { [128, 64] } else { [8192, 4096] };
    let method = format!(
        "Sums over squares of an image of {} x {} floats with a border, {} x {} pixels a workgroup of 256, with the radius a constant \
         of the program so that loops unroll. Plain times, direct over tiled, a round each.",
        size[0], size[1], TILE[0], TILE[1]
    );
    let kernels = radii.iter().map(|radius| Kernels::new(bench, *radius)).collect::<Result<Vec<_>>>()?;
    let image = Image::new(bench, size, radii.iter().copied().max().unwrap_or(1))?;
    let by_sectors = bench.counts_sectors();
    let model = bench.model()?;
    let gain = |radius: u32| match by_sectors {
        true => model.around(spared_sectors(model.lanes, &image, radius), FREE),
        false => tile_gain(radius, TILE),
    };
    let spared = if by_sectors { "by the sectors" } else { "at most by the loads" };
    let each = radii.iter().map(|radius| format!("{:.0} times at radius {radius}", gain(*radius).value));
    let prediction =
        format!("A gain at every radius, {spared} that the tile spares: {}.", each.collect::<Vec<_>>().join(", "));
    let groups = (image.width / TILE[0]) * (image.height / TILE[1]);
    if bench.is_cpu_driver() {
        for kernels in &kernels {
            kernels.launches(bench, &image)?;
        }
        return Ok(not_here(prediction, method, "radius 1", "gain of the tile", CPU_GRID));
    }
    bench.ready()?;
    let mut launches = Vec::new();
    for kernels in &kernels {
        launches.extend(kernels.launches(bench, &image)?);
    }
    // The same kernel again: the control.
    if let Some(first) = kernels.first() {
        launches
            .extend(first.launches(bench, &image)?.into_iter().take(1).map(|(name, launch)| (name + " again", launch)));
    }
    let samples = bench.sample(&launches)?;
    let mut rows: Vec<_> = launches.iter().zip(&samples).map(|((name, _), samples)| Row::time(name, samples)).collect();
    let mut gains = Vec::new();
    for (radius, pair) in radii.iter().zip(samples.chunks_exact(2)) {
        let cell = format!("radius {radius}");
        let row =
            Row::ratio(cell, "gain of the tile", &pair[0].ns, &pair[1].ns, pair[0].clock).predicted(gain(*radius));
        gains.push(unless_launch_bound(bench, row, groups, &pair[0].ns)?);
    }
    let (Some(direct), Some(again)) = (samples.first(), samples.last()) else {
        return Err(Error::internal("a contender was not sampled"));
    };
    let same = Row::ratio("radius 1, direct over itself", "gain of the tile", &direct.ns, &again.ns, direct.clock);
    let control = control("direct reads against themselves, judged as if one were the tile", &same, gain(1));
    let each = radii.iter().zip(&gains).map(|(radius, row)| match row.verdict {
        Some(Verdict::NotMeasurable) => format!("nothing that can be told at radius {radius}"),
        _ => format!("{:.2} at radius {radius}", row.value),
    });
    // The first radius at which a round's tile is faster by more than nothing.
    let pays = Row::onset(
        "tile",
        "radius from which it pays",
        Unit::Count,
        (0..direct.ns.len()).map(|round| {
            let pays = |pair: &[Samples]| pair[0].ns[round] >= tile_gain(1, TILE).low * pair[1].ns[round];
            let at = samples.chunks_exact(2).position(pays)?;
            radii.get(at).map(|radius| f64::from(*radius))
        }),
        direct.clock,
        "it pays at no radius that was tried",
    );
    let bytes = f64::from(image.pitch * image.rows + image.width * image.height) * 4.0;
    let loads = f64::from(image.width * image.height) * 4.0 * f64::from((2 * radii[0] + 1).pow(2));
    let caches = match by_sectors {
        true => String::new(),
        false => format!(
            " At radius {} direct reads load {:.0} GB/s, {} pixels for each result, though image and result are only {:.0} \
             MB: what memory does not deliver at such a rate the first cache does, which is the tile's work without its \
             barrier and its extra instructions.",
            radii[0],
            loads / direct.median(),
            (2 * radii[0] + 1).pow(2),
            bytes / 1e6,
        ),
    };
    let finding = format!(
        "The tile gains {}. {}{caches}",
        each.collect::<Vec<_>>().join(", "),
        if pays.samples.is_empty() {
            "It pays at no radius that was tried.".into()
        } else {
            format!("It pays from radius {:.0} on.", pays.value)
        },
    );
    let point = |radius: &u32, value: f64| [f64::from(*radius), value];
    let plot = line_plot(
        "Direct reads over the tile",
        axis("radius", true),
        axis("time ratio", true),
        vec![
            measured("measured", radii.iter().zip(&gains).map(|(radius, row)| point(radius, row.value))),
            predicted(
                if by_sectors { "sectors spared" } else { "loads spared" },
                radii.iter().map(|radius| point(radius, gain(*radius).value)),
            ),
        ],
    );
    rows.push(pays);
    rows.extend(gains);
    rows.push(same);
    Ok(Outcome {
        prediction,
        finding,
        method,
        verdict: overall(&rows),
        rows,
        plots: vec![plot],
        control: Some(control),
    })
}
