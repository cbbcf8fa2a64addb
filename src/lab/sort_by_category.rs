//! Sorting by category before a switch.

use super::k_way::{arms_text, constants};
use super::kernel::{Launch, record_all};
use super::model::{DATA, FREE};
use super::oracle::{scramble, steps};
use super::outcome::{Outcome, bar_plot, control, median_said, overall};
use super::timing::{Trips, calibrate};
use super::{Bench, Experiment, Simulated};
use crate::error::{Error, ErrorKind, Result};
use crate::measure::{Contender, Samples, slope};
use crate::report::{Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "sort-by-category",
    group: "lanes",
    title: "Sort by category, then switch",
    claim: "A switch with k arms on random categories takes k(1 - (1 - 1/k)^width) arms a subgroup; with the items sorted by \
            category first it takes one, but for the few subgroups at the seams.",
    simulated: Simulated::Issues,
    run,
};

/// Categories: at eight, random data of a subgroup of 32 leaves hardly an arm out, and eight loops stay in every
/// instruction cache.
const ARMS: u32 = 8;

struct Kernels {
    by_category: wgpu::ComputePipeline,
    count: wgpu::ComputePipeline,
    place: wgpu::ComputePipeline,
    /// Counts arms, where there are subgroup operations.
    arms: Option<wgpu::ComputePipeline>,
    host_categories: Vec<u32>,
    categories: wgpu::Buffer,
    /// All items in arm 0.
    one_category: wgpu::Buffer,
    as_they_lie: wgpu::Buffer,
    sorted: wgpu::Buffer,
    counters: wgpu::Buffer,
    results: wgpu::Buffer,
}

impl Kernels {
    fn new(bench: &Bench<'_>) -> Result<Self> {
        let items = bench.invocations();
        let prelude = format!("const ARMS = {ARMS}u;");
        let sort = include_str!("../../shaders/lab/category_sort.wgsl");
        let host_categories: Vec<_> = (0..items).map(|item| scramble(item) % ARMS).collect();
        let as_they_lie: Vec<_> = (0..items).collect();
        let arms = include_str!("../../shaders/lab/category_arms.wgsl");
        Ok(Self {
            by_category: bench.pipeline(
                "by_category",
                &arms_text(ARMS),
                include_str!("../../shaders/lab/category.wgsl"),
            )?,
            count: bench.pipeline("category_count", &prelude, sort)?,
            place: bench.pipeline("category_place", &prelude, sort)?,
            arms: bench.has_subgroups().then(|| bench.pipeline("category_arms", &prelude, arms)).transpose()?,
            categories: bench.words_with("categories", &host_categories)?,
            one_category: bench.words("one category", items)?,
            as_they_lie: bench.words_with("items as they lie", &as_they_lie)?,
            sorted: bench.words("items sorted", items)?,
            counters: bench.words("category counters", 2 * ARMS)?,
            results: bench.words("category results", items)?,
            host_categories,
        })
    }

    fn unverified(
        &self,
        bench: &Bench<'_>,
        categories: &wgpu::Buffer,
        order: &wgpu::Buffer,
        trips: u32,
    ) -> Result<Launch> {
        let params = bench.params(&[trips])?;
        let buffers = [(0, &self.results), (1, &params), (2, categories), (3, order)];
        Ok(bench.launch(&self.by_category, &buffers, bench.groups()))
    }

    fn launch(&self, bench: &Bench<'_>, case: Case, trips: u32) -> Result<Launch> {
        let (categories, order) = match case {
            Case::Random => (&self.categories, &self.as_they_lie),
            Case::Sorted => (&self.categories, &self.sorted),
            Case::OneArm => (&self.one_category, &self.as_they_lie),
        };
        let launch = self.unverified(bench, categories, order, trips)?;
        let expected = |item: u32| {
            let category = if case == Case::OneArm { 0 } else { self.host_categories[item as usize] };
            let (multiplier, addend, shift) = constants(category);
            steps(item, trips, multiplier, addend, shift)
        };
        bench.verify(&format!("by_category, {case:?}"), &self.results, |pass| launch.record(pass), expected)?;
        Ok(launch)
    }

    fn sort(&self, bench: &Bench<'_>) -> [Launch; 2] {
        let counting = [(0, &self.categories), (1, &self.counters)];
        let placing = [(0, &self.categories), (1, &self.counters), (2, &self.sorted)];
        [bench.launch(&self.count, &counting, bench.groups()), bench.launch(&self.place, &placing, bench.groups())]
    }

    /// Sorts once, and sees that the order is a permutation in which no category comes before a smaller one.
    fn sort_and_verify(&self, bench: &Bench<'_>, sort: &[Launch; 2]) -> Result<Vec<u32>> {
        bench.gpu.submit(|encoder| encoder.clear_buffer(&self.counters, 0, None));
        bench.run_once(|pass| record_all(sort, pass))?;
        let order = bench.read_words(&self.sorted, bench.invocations())?;
        let mut seen = vec![false; order.len()];
        let fresh =
            order.iter().all(|item| seen.get_mut(*item as usize).is_some_and(|seen| !std::mem::replace(seen, true)));
        let category = |item: &u32| self.host_categories[*item as usize];
        if !fresh || !order.is_sorted_by_key(category) {
            return Err(Error::new(
                ErrorKind::WrongResult,
                format!("category_place left {} items that are not sorted by category", order.len()),
            ));
        }
        Ok(order)
    }

    /// The mean number of arms that a subgroup takes for items in this order, by ballot.
    fn count_arms(&self, bench: &Bench<'_>, order: &wgpu::Buffer) -> Result<Option<f64>> {
        let Some(pipeline) = &self.arms else { return Ok(None) };
        let counts = bench.words_with("category_arms", &[0; 2])?;
        let launch = bench.launch(pipeline, &[(0, &counts), (2, &self.categories), (3, order)], bench.groups());
        bench.run_once(|pass| launch.record(pass))?;
        let counts = bench.read_words(&counts, 2)?;
        Ok(Some(f64::from(counts[1]) / f64::from(counts[0].max(1))))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    Random,
    Sorted,
    OneArm,
}

/// The mean number of different categories in each stretch of a subgroup.
fn arms_a_subgroup(categories: impl Iterator<Item = u32>, lanes: u32) -> f64 {
    let categories: Vec<_> = categories.collect();
    let subgroups = categories.chunks(lanes.max(1) as usize);
    let count = subgroups.len() as f64;
    let arms = |subgroup: &[u32]| subgroup.iter().fold(0u32, |arms, arm| arms | 1 << arm).count_ones();
    subgroups.map(|subgroup| f64::from(arms(subgroup))).sum::<f64>() / count
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let kernels = Kernels::new(bench)?;
    let model = bench.model()?;
    let items = bench.invocations();
    let sort = kernels.sort(bench);
    let order = kernels.sort_and_verify(bench, &sort)?;
    let random_arms = model.k_way_random(ARMS);
    // What the host counts for lanes in the order of the local index.
    let seams = arms_a_subgroup(order.iter().map(|item| kernels.host_categories[*item as usize]), model.lanes);
    let counted = [&kernels.as_they_lie, &kernels.sorted].map(|order| kernels.count_arms(bench, order));
    bench.ready()?;
    let trips = Trips::up_to(calibrate(bench, |trips| {
        kernels.unverified(bench, &kernels.one_category, &kernels.as_they_lie, trips)
    })?);
    let cases = [(Case::Random, "as they lie"), (Case::Sorted, "sorted"), (Case::OneArm, "one category")];
    let mut launches = Vec::new();
    for (case, name) in cases {
        for trips in [trips.short, trips.long] {
            launches.push((format!("{name}, {trips} trips"), kernels.launch(bench, case, trips)?));
        }
    }
    let mut contenders = vec![
        Contender::new("sort", |pass| record_all(&sort, pass))
            .before(|encoder| encoder.clear_buffer(&kernels.counters, 0, None)),
    ];
    contenders.extend(launches.iter().map(|(name, launch)| Contender::new(name, |pass| launch.record(pass))));
    let samples = bench.sampler.sample(&contenders)?;
    drop(contenders);
    let [sorting, timed @ ..] = samples.as_slice() else {
        return Err(Error::internal("a contender was not sampled"));
    };
    let mut rows = vec![Row::time("sort", sorting)];
    let slopes: Vec<Samples> =
        timed.chunks_exact(2).map(|pair| slope(&pair[0], &pair[1], trips.short.into(), trips.long.into())).collect();
    let [random, sorted, one] = slopes.as_slice() else {
        return Err(Error::internal("a slope is missing"));
    };
    for ((_, name), (pair, slope)) in cases.iter().zip(timed.chunks_exact(2).zip(&slopes)) {
        rows.push(Row::each_trip(*name, &pair[1], trips.long));
        rows.push(Row::trip(*name, slope));
    }
    let ratio = |cell: &str, slope: &Samples| Row::ratio(cell, "time over one arm", &slope.ns, &one.ns, slope.clock);
    let random_row = ratio("as they lie", random).predicted(model.around(random_arms, DATA));
    let sorted_row = ratio("sorted", sorted).predicted(model.around(seams, DATA));
    let gain = Row::ratio("sorted", "gain without the sort", &random.ns, &sorted.ns, random.clock)
        .predicted(model.around(random_arms / seams, DATA));
    let control = control(
        "the sorted items, judged as if they were in random order",
        &sorted_row,
        model.around(random_arms, DATA),
    );
    let saved = random.ns.iter().zip(&sorted.ns).map(|(random, sorted)| random - sorted);
    let pays = Row::onset(
        "sorted",
        "trips from which the sort pays",
        Unit::Steps,
        sorting.ns.iter().zip(saved).map(|(sorting, saved)| (saved > 0.0).then(|| sorting / saved)),
        random.clock,
        "it never pays here",
    );
    let plot = bar_plot("Time over one arm", "time ratio", [&random_row, &sorted_row]);
    let finding = format!(
        "On random categories the switch of {ARMS} arms takes {} times one arm; sorted by category first, {} times, a gain \
         of {:.2}. Sorting {items} items takes {}{}.",
        random_row.against_model(),
        sorted_row.against_model(),
        gain.value,
        median_said(sorting),
        if pays.samples.is_empty() {
            " and never pays here".into()
        } else {
            format!(", so it pays from arms of about {} trips on", pays.value.ceil())
        }
    );
    let [random_counted, sorted_counted] = counted;
    for (cell, counted, expected) in [("as they lie", random_counted?, random_arms), ("sorted", sorted_counted?, seams)]
    {
        rows.push(match counted {
            Some(arms) => {
                Row::count(cell, "arms a subgroup", Unit::Count, arms).predicted(model.around(expected, FREE))
            }
            None => Row::not_measurable(cell, "arms a subgroup", Unit::Count, &bench.gpu.probe().reason()),
        });
    }
    rows.extend([pays, random_row, sorted_row, gain]);
    Ok(Outcome {
        prediction: format!(
            "At {} lanes and {ARMS} categories, {random_arms:.2} arms a subgroup at random and {seams:.2} sorted.",
            model.lanes
        ),
        finding,
        method: format!(
            "{items} items of hashed categories; arms are loops of dependent arithmetic. The sort is two dispatches: \
             counting, and placing by atomic counters. Items are worked on through a list of indices in both cases. Arms \
             are counted by ballot in a pass of its own; ratios are slopes between {} and {} trips.",
            trips.short, trips.long
        ),
        verdict: overall(&rows),
        rows,
        plots: vec![plot],
        control: Some(control),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_are_counted_a_subgroup() {
        assert_eq!(arms_a_subgroup([0, 0, 0, 0].into_iter(), 4), 1.0);
        assert_eq!(arms_a_subgroup([0, 1, 2, 3].into_iter(), 4), 4.0);
        assert_eq!(arms_a_subgroup([0, 0, 0, 1, 1, 1, 1, 1].into_iter(), 4), 1.5);
    }
}
