//! Workgroups of one size and many shapes over an image.

use super::kernel::Launch;
use super::model::{FREE, lines, sectors, tile_sectors};
use super::outcome::{Outcome, axis, control, overall};
use super::picture::Picture;
use super::residency::CPU_REASON;
use super::{Bench, Experiment, Simulated};
use crate::error::{Error, Result};
use crate::measure::{Effort, Samples, median};
use crate::report::{Axis, Plot, PlotKind, Prediction, Row, Series, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "tile-shape",
    group: "workgroups",
    title: "The shape of a tile",
    claim: "An image lies in rows, so x is the dimension along which a subgroup should lie: a tile of 32 x 8 often beats \
            one of 16 x 16 by 10 to 20 %, and with x and y swapped every lane touches a row of its own.",
    simulated: Simulated::Sectors,
    run,
};

/// Tiles of 256, wide ones first.
const SHAPES: [[u32; 2]; 8] = [[256, 1], [128, 2], [64, 4], [32, 8], [16, 16], [8, 32], [4, 64], [1, 256]];
const WIDE: [u32; 2] = [32, 8];
const SQUARE: [u32; 2] = [16, 16];
const COLUMN: [u32; 2] = [1, 256];
/// Tiles that also work on a real picture.
const REAL: [[u32; 2]; 2] = [WIDE, SQUARE];
const REAL_WORK: Work = Work::Sum(1);
/// Words beyond the image at the end of each row and below the last: more than the largest radius on both sides.
const MARGIN: u32 = 64;
/// Rows that one invocation of the copy takes.
const COPY_ROWS: u32 = 8;

/// What is done with a pixel.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    Copy,
    Sum(u32),
}

impl Work {
    fn name(self) -> String {
        match self {
            Self::Copy => format!("copy, {COPY_ROWS} pixels a lane"),
            Self::Sum(radius) => format!("sum of {0} x {0}", 2 * radius + 1),
        }
    }

    /// The sectors that the accesses of a workgroup touch.
    fn sectors(self, lanes: u32, tile: [u32; 2], pitch: u32) -> f64 {
        match self {
            // A load and a store of every pixel.
            Self::Copy => 2.0 * f64::from(COPY_ROWS) * tile_sectors(lanes, tile, pitch, [0]),
            // Loads of the square from its upper left corner on, and one store at its middle.
            Self::Sum(radius) => {
                let side = 2 * radius + 1;
                let square = (0..side).flat_map(|y| (0..side).map(move |x| y * pitch + x));
                tile_sectors(lanes, tile, pitch, square.chain([radius * (pitch + 1)]))
            }
        }
    }

    fn all(bench: &Bench<'_>) -> Vec<Self> {
        match bench.effort {
            // A large square takes seconds there.
            Effort::Quick if bench.gpu.is_simulated() => vec![Self::Copy, Self::Sum(1)],
            Effort::Quick => vec![Self::Copy, Self::Sum(1), Self::Sum(3)],
            Effort::Full => vec![Self::Copy, Self::Sum(1), Self::Sum(2), Self::Sum(3), Self::Sum(5)],
        }
    }
}

fn real_cell([x, y]: [u32; 2]) -> String {
    format!("a photograph, {}, {x} x {y}", REAL_WORK.name())
}

/// A picture laid out over a plane, and where results go.
struct Plane {
    picture: Picture,
    width: u32,
    height: u32,
    pitch: u32,
    params: wgpu::Buffer,
    plane: wgpu::Buffer,
    results: wgpu::Buffer,
}

fn prelude([x, y]: [u32; 2], radius: u32) -> String {
    format!("const TILE_X = {x}u;\nconst TILE_Y = {y}u;\nconst RADIUS = {radius}u;")
}

impl Plane {
    fn new(bench: &Bench<'_>, picture: Picture) -> Result<Self> {
        let text = include_str!("../../shaders/lab/tile.wgsl");
        let lay_out = bench.pipeline("lay_out", &prelude([1, 1], 0), text)?;
        // A power of two on both sides that leaves room for the margins: every tile divides it.
        let words = bench.memory_words() / 2;
        let side = 1 << (words.max(2).ilog2() / 2);
        let tallest = COPY_ROWS * COLUMN[1];
        let (width, height) = if bench.gpu.is_cpu() { (256, tallest) } else { (side.max(256), side.max(tallest)) };
        let pitch = width + MARGIN;
        let count = pitch * (height + MARGIN);
        let params = bench.params(&[pitch, picture.width, picture.height, count])?;
        let plane = bench.words("plane", count)?;
        let pixels: Vec<u32> = picture.pixels.iter().map(|pixel| pixel.to_bits()).collect();
        let pixels = bench.words_with("picture", &pixels)?;
        let launch = bench.launch(&lay_out, &[(0, &plane), (1, &params), (3, &pixels)], 1024);
        bench.run_once(|pass| launch.record(pass))?;
        Ok(Self { picture, width, height, pitch, params, plane, results: bench.words("tile_results", count)? })
    }

    /// The pixel at this word of the plane.
    fn pixel(&self, x: u32, y: u32) -> f32 {
        self.picture.at(x, y)
    }

    /// What `work` leaves in this word of the results; 0 outside the image.
    fn expected(&self, work: Work, word: u32) -> f32 {
        let (x, y) = (word % self.pitch, word / self.pitch);
        let radius = match work {
            Work::Copy => 0,
            Work::Sum(radius) => radius,
        };
        if !(radius..self.width + radius).contains(&x) || !(radius..self.height + radius).contains(&y) {
            return 0.0;
        }
        let rows = y - radius..=y + radius;
        rows.flat_map(|y| (x - radius..=x + radius).map(move |x| (x, y))).map(|(x, y)| self.pixel(x, y)).sum()
    }

    fn launch(&self, bench: &Bench<'_>, work: Work, [x, y]: [u32; 2]) -> Result<(Launch, u32)> {
        let text = include_str!("../../shaders/lab/tile.wgsl");
        let (entry, radius, rows) = match work {
            Work::Copy => ("copy_rows", 0, y * COPY_ROWS),
            Work::Sum(radius) => ("box_sum", radius, y),
        };
        let pipeline = bench.pipeline_of(x * y, entry, &prelude([x, y], radius), text)?;
        let buffers = [(0, &self.results), (1, &self.params), (2, &self.plane)];
        let grid = [self.width / x, self.height / rows, 1];
        let launch = bench.launch_grid(&pipeline, &buffers, grid);
        let what = format!("{}, {x} x {y}", work.name());
        bench.verify_stretches(
            &what,
            &self.results,
            |pass| launch.record(pass),
            |word| self.expected(work, word).to_bits(),
        )?;
        Ok((launch, grid[0] * grid[1]))
    }
}

/// Byte addresses of one access of a subgroup in a tile that is so wide, in a plane of this pitch.
fn addresses(lanes: u32, tile_width: u32, pitch: u32) -> impl Iterator<Item = u32> {
    (0..lanes).map(move |lane| 4 * (lane / tile_width * pitch + lane % tile_width))
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let model = bench.model()?;
    let limits = bench.gpu.limits();
    let fits = |[x, y]: &[u32; 2]| {
        x * y <= limits.max_compute_invocations_per_workgroup
            && *x <= limits.max_compute_workgroup_size_x
            && *y <= limits.max_compute_workgroup_size_y
    };
    let shapes: Vec<_> = SHAPES.into_iter().filter(fits).collect();
    let reason = match (bench.is_cpu_driver(), fits(&WIDE)) {
        (true, _) => Some(CPU_REASON),
        (false, false) => Some("a tile of 32 x 8 is too large for this adapter"),
        (false, true) => None,
    };
    let plane = Plane::new(bench, Picture::synthetic())?;
    let works = Work::all(bench);
    let mut launches = Vec::new();
    let mut groups = Vec::new();
    // On a CPU driver only the results are checked, and building every shape takes seconds; the simulator is slow.
    let left_out = |shape: &[u32; 2]| bench.gpu.is_cpu() && ![WIDE, SQUARE, COLUMN].contains(shape);
    let timed: Vec<_> = shapes.iter().copied().filter(|shape| !left_out(shape)).collect();
    for work in &works {
        for [x, y] in &timed {
            let (launch, count) = plane.launch(bench, *work, [*x, *y])?;
            launches.push((format!("{}, {x} x {y}", work.name()), launch));
            groups.push(count);
        }
    }
    let synthetic = launches.len();
    let real = Plane::new(bench, Picture::photograph())?;
    for [x, y] in REAL.iter().filter(|shape| shapes.contains(shape)) {
        let (launch, _) = real.launch(bench, REAL_WORK, [*x, *y])?;
        launches.push((real_cell([*x, *y]), launch));
    }
    let claimed = Prediction { value: 1.15, low: 1.10, high: 1.20 };
    let mut rows = Vec::new();
    for [x, y] in &shapes {
        let cell = format!("{x} x {y}");
        let touched = sectors(addresses(model.lanes, *x, plane.pitch));
        rows.push(Row::count(&cell, "sectors a subgroup access", Unit::Sectors, touched));
        let touched = lines(addresses(model.lanes, *x, plane.pitch));
        rows.push(Row::count(&cell, "lines of 128 bytes a subgroup access", Unit::Count, touched));
    }
    let touched = |shape: [u32; 2]| {
        let at = || addresses(model.lanes, shape[0], plane.pitch);
        format!("{} sectors in {} lines", sectors(at()), lines(at()))
    };
    // What the accesses of a workgroup touch, over those of the wide tile.
    let by_sectors = bench.counts_sectors();
    let counted = |work: Work, shape: [u32; 2]| {
        let [these, wide] = [shape, WIDE].map(|shape| work.sectors(model.lanes, shape, plane.pitch));
        model.around(these / wide, FREE)
    };
    let claimed = |work: Work| if by_sectors { counted(work, SQUARE) } else { claimed };
    let expected = match by_sectors {
        true => {
            let each = works.iter().map(|work| format!("{:.2} ({})", claimed(*work).value, work.name()));
            format!("16 x 16 takes, over 32 x 8: {}", each.collect::<Vec<_>>().join(", "))
        }
        false => "16 x 16 takes 1.10 to 1.20 times as long as 32 x 8".into(),
    };
    let prediction = format!(
        "{expected}. A subgroup's access touches {} in a tile of 32 x 8, {} in one \
         of 16 x 16, {} in one of 1 x 256.",
        touched(WIDE),
        touched(SQUARE),
        touched(COLUMN)
    );
    let method = format!(
        "{} x {} pixels of 4 bytes ({}), rows {} bytes apart with a margin instead of clamps; tiles of 256 in every shape; \
         whole passes. Some again over {}.",
        plane.width,
        plane.height,
        plane.picture.name,
        4 * plane.pitch,
        real.picture.name,
    );
    if let Some(reason) = reason {
        rows.push(Row::not_measurable("all shapes", "time over 32 x 8", Unit::Ratio, reason));
        return Ok(Outcome::not_measurable(prediction, method, rows, reason));
    }
    bench.ready()?;
    let samples = bench.sample(&launches)?;
    let mut said = Vec::new();
    let mut series = Vec::new();
    let mut column = None;
    for ((work, samples), groups) in
        works.iter().zip(samples[..synthetic].chunks(timed.len())).zip(groups.chunks(timed.len()))
    {
        let at = |shape: [u32; 2]| timed.iter().position(|known| *known == shape);
        let Some(wide) = at(WIDE).and_then(|at| samples.get(at)) else {
            return Err(Error::internal("the wide tile was not sampled"));
        };
        let mut points = Vec::new();
        for ((at, shape), (samples, groups)) in timed.iter().enumerate().zip(samples.iter().zip(groups)) {
            let (row, ratio) = shape_rows(bench, *work, *shape, samples, *groups, wide)?;
            points.push([at as f64, ratio.value]);
            let ratio = match *shape {
                WIDE => ratio.noted("what the others are compared with"),
                SQUARE => {
                    let ratio = ratio.predicted(claimed(*work));
                    said.push(format!("{} {}", work.name(), ratio.against_model()));
                    ratio
                }
                shape => {
                    if (shape, *work) == (COLUMN, Work::Sum(1)) {
                        column = Some(ratio.clone());
                    }
                    if by_sectors { ratio.predicted(counted(*work, shape)) } else { ratio }
                }
            };
            rows.extend([row, ratio]);
        }
        series.push(Series { name: work.name(), predicted: false, points });
    }
    let mut on_real = Vec::new();
    for (shape, real) in REAL.into_iter().zip(&samples[synthetic..]) {
        let cell = real_cell(shape);
        let same = launches.iter().position(|(name, _)| cell.ends_with(name.as_str()));
        let noise =
            same.and_then(|at| samples.get(at)).ok_or_else(|| Error::internal("no other picture was sampled"))?;
        rows.push(Row::time(&cell, real));
        let ratio = Row::ratio(cell, "time over the synthetic picture", &real.ns, &noise.ns, real.clock);
        on_real.push(ratio.predicted(model.around(1.0, FREE)));
    }
    let said_of_real: Vec<_> = on_real.iter().map(Row::against_model).collect();
    rows.extend(on_real);
    let control = column.map(|row| {
        control("a column of 1 x 256, judged as if it were a square beside a wide tile", &row, claimed(Work::Sum(1)))
    });
    let columns: Vec<_> =
        rows.iter().filter(|row| row.cell.ends_with(", 1 x 256") && row.unit == Unit::Ratio).collect();
    let worst = median(&columns.iter().map(|row| row.value).collect::<Vec<_>>());
    let categories = timed.iter().map(|[x, y]| format!("{x} x {y}")).collect();
    let why = match by_sectors {
        true => "How much the shape matters depends on where the rows of a tile begin and end within a sector",
        false => "How much the shape matters depends on how often the cache meets a line again",
    };
    Ok(Outcome {
        prediction,
        finding: format!(
            "A tile of 16 x 16 takes, over one of 32 x 8: {}. A column of 1 x 256 takes {worst:.1} times as long. {why}, and \
             not on the picture: a photograph takes {} times as long as a gradient with noise.",
            said.join("; "),
            said_of_real.join(" and ")
        ),
        method,
        verdict: overall(&rows),
        rows,
        plots: vec![Plot {
            title: "Time by the shape of the tile".into(),
            kind: PlotKind::Bars,
            x: Axis { label: "tile".into(), log2: false, categories },
            y: axis("time over 32 x 8", false),
            series,
        }],
        control,
    })
}

/// The time of one shape, and what it is over that of the wide tile.
fn shape_rows(
    bench: &Bench<'_>,
    work: Work,
    [x, y]: [u32; 2],
    samples: &Samples,
    groups: u32,
    wide: &Samples,
) -> Result<(Row, Row)> {
    let cell = format!("{}, {x} x {y}", work.name());
    let time = Row::time(&cell, samples);
    let ratio = Row::ratio(cell, "time over 32 x 8", &samples.ns, &wide.ns, samples.clock);
    Ok((time, ratio.unless_launch_bound(bench.launch_share(groups, samples)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_tiles_touch_fewer_lines() {
        let touched = |width| (sectors(addresses(32, width, 8256)), lines(addresses(32, width, 8256)));
        assert_eq!([32, 16, 8, 4, 1].map(touched), [(4, 1), (4, 2), (4, 4), (8, 8), (32, 32)]);
    }
}
