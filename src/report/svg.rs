//! Plots as SVG text, drawn by hand: lines and bars, colours from the page's style sheet.
//!
//! Everything that is drawn is told by shape, dash or words too, never by colour alone: the measured series have a
//! marker or a place each, what the model predicts is dashed, each series in its own way, and has no marker.

use std::fmt::Write;

use super::format::number;
use super::html::escape;
use super::{Axis, Plot, PlotKind, Series};

/// Width of a plot in its own units; the page scales it.
const WIDTH: f64 = 420.0;
/// Height of a line plot.
const HEIGHT: f64 = 270.0;
/// Height of text, and the mean width of a character of it.
const TEXT: f64 = 12.0;
const CHARACTER: f64 = 6.6;
/// How much wider a label may be: small screens have larger text, and letters are not all of the mean width.
const LARGEST: f64 = 1.2;
/// Series colours of the style sheet, `.s0` to `.s7`, and shapes of markers.
const COLOURS: usize = 8;
/// Dashes and gaps of predicted series: dashes, dots, dashes and dots, long dashes. Each shows in the width of a legend's
/// swatch.
const DASHES: [&str; 4] = ["7 5", "2 4", "11 3 3 3", "19 5"];
/// The same for the marks across bars, which are as short as a bar is high.
const MARK_DASHES: [&str; 4] = ["none", "2 2", "6 2 2 2", "4 4"];
/// The most markers of a line: more would hide it.
const MARKERS: usize = 48;

/// A plot without its heading and legend. `id` must be unique in the page.
pub(super) fn draw(plot: &Plot, id: &str) -> String {
    let (body, height) = match plot.kind {
        PlotKind::Line => (lines(plot), HEIGHT),
        PlotKind::Bars => bars(plot),
    };
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\
         <title id=\"{id}-title\">{}</title><desc id=\"{id}-desc\">{}</desc>{body}</svg>",
        escape(&plot.title),
        escape(&describe(plot)),
    )
}

/// The line and marker of a series, for a legend.
pub(super) fn swatch(plot: &Plot, index: usize) -> String {
    let series = &plot.series[index];
    let mut text = String::from("<svg class=\"swatch\" viewBox=\"0 0 24 12\" aria-hidden=\"true\">");
    match (plot.kind, series.predicted) {
        (PlotKind::Bars, false) => {
            // Its place among the bars of a category, beside their axis.
            let bars = plot.series.iter().filter(|series| !series.predicted).count();
            let height = 10.0 / bars as f64;
            let y = 1.0 + height * place_among_its_kind(plot, index) as f64;
            let _ = write!(
                text,
                "<path class=\"axis\" d=\"M1 0V12\"/><rect class=\"bar {}\" x=\"2\" y=\"{y:.1}\" width=\"20\" height=\"{height:.1}\"/>",
                class(plot, index)
            );
        }
        (PlotKind::Bars, true) => text += &mark(plot, index, "M12 0V12"),
        (PlotKind::Line, predicted) => {
            text += &line(plot, index, "M0 6H24");
            if !predicted {
                text += &marker(plot, index, 12.0, 6.0);
            }
        }
    }
    text + "</svg>"
}

/// The plot in words, for who does not see it.
fn describe(plot: &Plot) -> String {
    let mut text = match plot.kind {
        PlotKind::Line => format!("Lines of {} over {}.", plot.y.label, plot.x.label),
        PlotKind::Bars => format!("Bars of {} for each {}.", plot.y.label, plot.x.label),
    };
    for series in &plot.series {
        let place = |x: f64| plot.x.categories.get(x as usize).cloned().unwrap_or_else(|| number(x));
        let _ = match &*series.points {
            [] => write!(text, " {}: nothing.", series.name),
            [[x, y]] => write!(text, " {}: {} at {}.", series.name, number(*y), place(*x)),
            [[x0, y0], .., [x1, y1]] => write!(
                text,
                " {}: {} at {} to {} at {}.",
                series.name,
                number(*y0),
                place(*x0),
                number(*y1),
                place(*x1)
            ),
        };
    }
    text
}

/// Where the values of an axis lie on the page.
struct Scale {
    log2: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    step: f64,
}

impl Scale {
    /// For values that are lengths: from 0, or a power of two, to the tick above the largest.
    fn of_lengths(log2: bool, values: impl Iterator<Item = f64>, ends: [f64; 2]) -> Self {
        let mut scale = Self::of_places(log2, values.chain((!log2).then_some(0.0)), ends);
        // A hair below a tick is drawn a hair below it, rather than with half of the picture empty.
        let hair = 0.03;
        scale.low = (scale.low / scale.step + hair).floor() * scale.step;
        scale.high = (scale.high / scale.step - hair).ceil() * scale.step;
        scale
    }

    /// For values that are places: from the smallest to the largest.
    fn of_places(log2: bool, values: impl Iterator<Item = f64>, [from, to]: [f64; 2]) -> Self {
        let values = values.filter(|value| value.is_finite() && (!log2 || *value > 0.0));
        let map = |value: f64| if log2 { value.log2() } else { value };
        let (mut low, mut high) =
            values.map(map).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if low == high {
            high += low.abs().max(1.0);
        }
        let step = if log2 {
            // Every power of two, or every second, fourth, …: at most eight.
            let mut step = 1.0;
            while (high - low) / step > 8.0 {
                step *= 2.0;
            }
            step
        } else {
            // 1, 2 or 5 times a power of ten: at most six.
            let rough = (high - low) / 6.0;
            let power = 10f64.powf(rough.log10().floor());
            [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= rough).unwrap_or(10.0 * power)
        };
        Self { log2, low, high, from, to, step }
    }

    /// The place of a value; `None` for one that this axis cannot show.
    fn place(&self, value: f64) -> Option<f64> {
        let value = if self.log2 { value.log2() } else { value };
        value.is_finite().then(|| self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from))
    }

    /// Places and labels.
    fn ticks(&self) -> Vec<(f64, String)> {
        let (first, last) = ((self.low / self.step).ceil(), (self.high / self.step).floor());
        let count = (last - first).max(0.0) as u32;
        (0..=count)
            .map(|i| {
                let value = (first + f64::from(i)) * self.step;
                let place = self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from);
                let label = if self.log2 { power_label(value, last * self.step) } else { tick_label(value, self.step) };
                (place, label)
            })
            .collect()
    }
}

/// 2 to the power of `exponent` on an axis that ends at the power `last`: as a power where the axis has large numbers.
fn power_label(exponent: f64, last: f64) -> String {
    if (-4.0..=16.0).contains(&exponent) && last <= 16.0 {
        return if exponent < 0.0 { exponent.exp2().to_string() } else { number(exponent.exp2()) };
    }
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let power = format!("{exponent:.0}");
    let raised = power.chars().map(|c| c.to_digit(10).map_or('⁻', |digit| digits[digit as usize]));
    format!("2{}", raised.collect::<String>())
}

/// A tick's value with as many digits as tell it from its neighbours.
fn tick_label(value: f64, step: f64) -> String {
    let (scale, suffix) = match value.abs().max(step) {
        large if large >= 1e15 => return format!("{value:.0e}"),
        large if large >= 1e9 => (1e9, "G"),
        large if large >= 1e6 => (1e6, "M"),
        large if large >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let decimals = (-(step / scale).log10().floor()).clamp(0.0, 9.0) as usize;
    // Adding 0 makes a negative zero positive.
    let value = (value / step).round() * step / scale + 0.0;
    if decimals == 0 { number(value.round()) + suffix } else { format!("{value:.decimals$}{suffix}") }
}

fn class(plot: &Plot, index: usize) -> String {
    if plot.series[index].predicted {
        return "predicted".into();
    }
    format!("s{}", place_among_its_kind(plot, index) % COLOURS)
}

/// How many series before this one are measured, or predicted, as it is.
fn place_among_its_kind(plot: &Plot, index: usize) -> usize {
    let kind = plot.series[index].predicted;
    plot.series[..index].iter().filter(|series| series.predicted == kind).count()
}

/// The line of a series along this path: whole if it was measured, dashed in its own way if predicted.
fn line(plot: &Plot, index: usize, path: &str) -> String {
    let dashes = match plot.series[index].predicted {
        true => DASHES[place_among_its_kind(plot, index) % DASHES.len()],
        false => "none",
    };
    format!("<path class=\"line {}\" stroke-dasharray=\"{dashes}\" d=\"{path}\"/>", class(plot, index))
}

/// The mark of a predicted series across bars, along this path.
fn mark(plot: &Plot, index: usize, path: &str) -> String {
    let dashes = MARK_DASHES[place_among_its_kind(plot, index) % MARK_DASHES.len()];
    format!("<path class=\"mark\" stroke-dasharray=\"{dashes}\" d=\"{path}\"/>")
}

/// A marker of the series' own shape.
fn marker(plot: &Plot, index: usize, x: f64, y: f64) -> String {
    let class = class(plot, index);
    let path = |corners: &[[f64; 2]]| {
        let corners: Vec<_> = corners.iter().map(|[dx, dy]| format!("{:.1} {:.1}", x + dx, y + dy)).collect();
        format!("<path class=\"marker {class}\" d=\"M{}Z\"/>", corners.join("L"))
    };
    match place_among_its_kind(plot, index) % COLOURS {
        0 => format!("<circle class=\"marker {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\"/>"),
        1 => path(&[[-3.0, -3.0], [3.0, -3.0], [3.0, 3.0], [-3.0, 3.0]]),
        2 => path(&[[0.0, -4.0], [3.8, 3.0], [-3.8, 3.0]]),
        3 => path(&[[0.0, -4.2], [4.2, 0.0], [0.0, 4.2], [-4.2, 0.0]]),
        4 => path(&[[-3.8, -3.0], [3.8, -3.0], [0.0, 4.0]]),
        5 => path(&[[-4.0, -1.2], [4.0, -1.2], [4.0, 1.2], [-4.0, 1.2]]),
        6 => path(&[[-3.6, -4.0], [3.6, -4.0], [-3.6, 4.0], [3.6, 4.0]]),
        _ => path(&[[-1.2, -4.4], [1.2, -4.4], [1.2, 4.4], [-1.2, 4.4]]),
    }
}

fn text(class: &str, x: f64, y: f64, anchor: &str, content: &str) -> String {
    format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escape(content))
}

/// The label of a tick on the horizontal axis: under it, but inside the picture. What would stand out hangs on the
/// picture's edge, so that the larger text of a small screen stays inside too.
fn tick_text(place: f64, y: f64, label: &str) -> String {
    let half = LARGEST * CHARACTER * label.chars().count() as f64 / 2.0;
    let (place, anchor) = match place {
        place if place < half => (0.0, "start"),
        place if place > WIDTH - half => (WIDTH, "end"),
        place => (place, "middle"),
    };
    text("tick", place, y, anchor, label)
}

fn points(series: &[Series], part: usize) -> impl Iterator<Item = f64> {
    series.iter().flat_map(move |series| series.points.iter().map(move |point| point[part]))
}

/// A label cut to the characters that fit into `width`.
fn fit(label: &str, width: f64) -> String {
    let most = (width / CHARACTER) as usize;
    if label.chars().count() <= most {
        return label.into();
    }
    label.chars().take(most.saturating_sub(1)).collect::<String>() + "…"
}

fn lines(plot: &Plot) -> String {
    let (top, bottom) = (2.2 * TEXT, HEIGHT - 3.6 * TEXT);
    let y = Scale::of_lengths(plot.y.log2, points(&plot.series, 1), [bottom, top]);
    let y_ticks = y.ticks();
    let widest = y_ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0);
    // A tenth more than usual: an M is wide, and small screens have larger text.
    let left = 14.0 + 1.1 * CHARACTER * widest as f64;
    let right = WIDTH - 16.0;
    let x = Scale::of_places(plot.x.log2, points(&plot.series, 0), [left, right]);
    let mut svg = text("label", 2.0, TEXT, "start", &fit(&axis_label(&plot.y), WIDTH));
    for (place, label) in &y_ticks {
        let _ = write!(svg, "<path class=\"grid\" d=\"M{left:.1} {place:.1}H{right:.1}\"/>");
        svg += &text("tick", left - 6.0, place + 0.35 * TEXT, "end", label);
    }
    let _ = write!(svg, "<path class=\"axis\" d=\"M{left:.1} {bottom:.1}H{right:.1}\"/>");
    for (place, label) in x.ticks() {
        let _ = write!(svg, "<path class=\"axis\" d=\"M{place:.1} {bottom:.1}v4\"/>");
        svg += &tick_text(place, bottom + 1.5 * TEXT, &label);
    }
    svg += &text("label", (left + right) / 2.0, HEIGHT - 0.5 * TEXT, "middle", &fit(&axis_label(&plot.x), WIDTH));
    // Predictions first, so that what was measured lies on top.
    for predicted in [true, false] {
        for (index, series) in plot.series.iter().enumerate().filter(|(_, series)| series.predicted == predicted) {
            let places: Vec<_> =
                series.points.iter().filter_map(|[px, py]| Some((x.place(*px)?, y.place(*py)?))).collect();
            let path: Vec<_> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
            if path.len() > 1 {
                svg += &line(plot, index, &format!("M{}", path.join("L")));
            }
            if !predicted || places.len() == 1 {
                let apart = places.len().div_ceil(MARKERS).max(1);
                places.iter().step_by(apart).for_each(|(x, y)| svg += &marker(plot, index, *x, *y));
            }
        }
    }
    svg
}

fn axis_label(axis: &Axis) -> String {
    if axis.log2 { format!("{} (log scale)", axis.label) } else { axis.label.clone() }
}

/// Horizontal bars, since names of cases are long: each category is a line of text with a bar a series under it, and a
/// mark across them where the model predicts.
fn bars(plot: &Plot) -> (String, f64) {
    const BAR: f64 = 14.0;
    const GAP: f64 = 12.0;
    let measured: Vec<_> = (0..plot.series.len()).filter(|index| !plot.series[*index].predicted).collect();
    let bands = 1.5 * TEXT + BAR * measured.len().max(1) as f64 + GAP;
    // A category that only the points know has its number as a name.
    let known = points(&plot.series, 0).filter(|x| *x >= 0.0 && *x < 1e3).fold(0, |most, x| most.max(x as usize + 1));
    let categories = plot.x.categories.len().max(known);
    let (left, top) = (4.0, 2.0);
    let bottom = top + bands * categories as f64;
    let height = (bottom + 3.4 * TEXT).ceil();
    let labels = points(&plot.series, 1).map(|y| number(y).chars().count()).max().unwrap_or(0);
    let right = WIDTH - 10.0 - CHARACTER * labels.min(14) as f64;
    let scale = Scale::of_lengths(plot.y.log2, points(&plot.series, 1), [left, right]);
    let mut svg = String::new();
    for (place, label) in scale.ticks() {
        let _ = write!(svg, "<path class=\"grid\" d=\"M{place:.1} {top:.1}V{bottom:.1}\"/>");
        svg += &tick_text(place, bottom + 1.2 * TEXT, &label);
    }
    svg += &text("label", WIDTH / 2.0, height - 0.5 * TEXT, "middle", &fit(&axis_label(&plot.y), WIDTH));
    let zero = if plot.y.log2 { left } else { scale.place(0.0).unwrap_or(left) };
    for category in 0..categories {
        let band = top + bands * category as f64;
        let name = plot.x.categories.get(category).cloned().unwrap_or_else(|| category.to_string());
        svg += &text("name", left, band + 1.2 * TEXT, "start", &fit(&name, WIDTH - 8.0));
        let value =
            |series: &Series| series.points.iter().find(|point| point[0] == category as f64).map(|point| point[1]);
        let (from, to) = (band + 1.5 * TEXT, band + bands - GAP);
        let _ = write!(svg, "<path class=\"axis\" d=\"M{zero:.1} {from:.1}V{to:.1}\"/>");
        let predicted = plot.series.iter().enumerate().filter(|(_, series)| series.predicted);
        let marks: Vec<_> =
            predicted.filter_map(|(index, series)| Some((index, scale.place(value(series)?)?))).collect();
        for (line, &index) in measured.iter().enumerate() {
            let Some((value, end)) = value(&plot.series[index]).and_then(|y| Some((y, scale.place(y)?))) else {
                continue;
            };
            let y = band + 1.5 * TEXT + BAR * line as f64;
            let (from, width) = (zero.min(end), (end - zero).abs());
            let _ = write!(
                svg,
                "<rect class=\"bar {}\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\"/>",
                class(plot, index),
                y + 1.0,
                BAR - 2.0
            );
            let label = number(value);
            // Beyond a mark that would cross the label.
            let from = zero.max(end);
            let crossed = from - 2.0..from + 6.0 + CHARACTER * label.chars().count() as f64;
            let crossing = marks.iter().map(|(_, mark)| *mark).filter(|mark| crossed.contains(mark));
            let from = crossing.fold(from, f64::max);
            svg += &text("value", from + 4.0, y + 0.5 * BAR + 0.35 * TEXT, "start", &label);
        }
        for (index, place) in &marks {
            svg += &mark(plot, *index, &format!("M{place:.1} {from:.1}V{to:.1}"));
        }
    }
    (svg, height)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    /// Every `name="number"` of these names, and the points of every path.
    fn inside(svg: &str) -> usize {
        let view =
            svg.split("viewBox=\"0 0 ").nth(1).and_then(|rest| rest.split('"').next()).expect("there is a viewBox");
        let (width, height) = view.split_once(' ').expect("width and height");
        let (width, height): (f64, f64) = (width.parse().expect("a width"), height.parse().expect("a height"));
        let mut seen = 0;
        let mut check = |value: &str, most: f64, element: &str| {
            let number: f64 = value.parse().unwrap_or_else(|_| panic!("{value} is no number in <{element}"));
            assert!((0.0..=most).contains(&number), "{number} is outside 0 to {most} in <{element}");
            seen += 1;
        };
        for element in svg.split('<').skip(1) {
            let attribute =
                |name: &str| element.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
            for (name, most) in [("x", width), ("cx", width), ("y", height), ("cy", height)] {
                if let Some(value) = attribute(name) {
                    check(value, most, element);
                }
            }
            if let (Some(x), Some(w)) = (attribute("x"), attribute("width")) {
                let (x, w): (f64, f64) = (x.parse().expect("x"), w.parse().expect("width"));
                check(&(x + w).to_string(), width, element);
            }
            if let Some(path) = attribute("d") {
                let commands = path.split_inclusive(|c: char| c.is_ascii_alphabetic());
                let mut command = 'M';
                for part in commands {
                    let numbers = part.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                    let numbers: Vec<_> = numbers.split_whitespace().collect();
                    match (command, &*numbers) {
                        (_, []) => {}
                        ('M' | 'L', [x, y]) => {
                            check(x, width, element);
                            check(y, height, element);
                        }
                        ('H', [x]) => check(x, width, element),
                        ('V', [y]) => check(y, height, element),
                        ('v', [_]) => {}
                        other => panic!("{other:?} in {path}"),
                    }
                    command = part.chars().last().unwrap_or('Z');
                }
            }
        }
        seen
    }

    #[test]
    fn everything_of_every_plot_is_inside_it() {
        for plot in sample::record().experiments.iter().flat_map(|e| &e.plots) {
            let svg = draw(plot, "p");
            assert!(inside(&svg) > 20, "{svg}");
        }
    }

    /// A plot of so many points of every series: the measured ones first, then the predicted ones.
    fn of_series(kind: PlotKind, measured: usize, predicted: usize, points: usize) -> Plot {
        let axis = |label: &str| Axis { label: label.into(), log2: false, categories: Vec::new() };
        let series = |at: usize| Series {
            name: format!("series {at}"),
            predicted: at >= measured,
            points: (0..points).map(|x| [x as f64, (x + at + 1) as f64]).collect(),
        };
        let series = (0..measured + predicted).map(series).collect();
        Plot { title: "all".into(), kind, x: axis("x"), y: axis("y"), series }
    }

    /// What is left of a drawing for who sees no colours: its classes are what the style sheet gives colours to.
    fn without_colours(svg: &str) -> String {
        let mut pieces = svg.split(" class=\"");
        let first = pieces.next().unwrap_or_default().to_string();
        pieces.fold(first, |text, piece| text + piece.split_once('"').map_or("", |(_, rest)| rest))
    }

    #[test]
    fn no_two_series_look_alike_without_colours() {
        for (kind, measured) in [(PlotKind::Line, COLOURS), (PlotKind::Bars, 3)] {
            let plot = of_series(kind, measured, DASHES.len(), 3);
            let swatches: Vec<_> = (0..plot.series.len()).map(|i| without_colours(&swatch(&plot, i))).collect();
            for (at, one) in swatches.iter().enumerate() {
                assert!(!swatches[..at].contains(one), "{kind:?}: {one}");
            }
            // What is in the legend is in the picture.
            let svg = draw(&plot, "p");
            for dashes in swatches.iter().filter_map(|swatch| swatch.split("stroke-dasharray=\"").nth(1)) {
                let dashes = dashes.split('"').next().expect("the attribute ends");
                assert!(svg.contains(&format!("stroke-dasharray=\"{dashes}\"")), "{kind:?}: {dashes}");
            }
        }
        // The style sheet would win over the attribute.
        assert!(!include_str!("page.css").contains("stroke-dasharray"));
    }

    #[test]
    fn labels_of_ticks_stay_inside_the_picture() {
        assert!(tick_text(WIDTH - 16.0, 0.0, "2^28").contains("x=\"404.0\" y=\"0.0\" text-anchor=\"middle\""));
        assert!(tick_text(WIDTH - 16.0, 0.0, "268M").contains("text-anchor=\"middle\""));
        assert!(tick_text(WIDTH - 16.0, 0.0, "65,536").contains("x=\"420.0\" y=\"0.0\" text-anchor=\"end\""));
        assert!(tick_text(9.0, 0.0, "65,536").contains("x=\"0.0\" y=\"0.0\" text-anchor=\"start\""));
    }

    #[test]
    fn lines_of_many_points_have_markers_too() {
        for points in [1, 2, MARKERS, MARKERS + 1, 1000] {
            let svg = draw(&of_series(PlotKind::Line, 1, 0, points), "p");
            let markers = svg.matches("class=\"marker s0\"").count();
            assert!((1..=MARKERS).contains(&markers) && markers >= points.min(MARKERS / 2), "{markers} of {points}");
        }
    }

    #[test]
    fn strange_plots_are_drawn_too() {
        let plot = |kind, log2, points: &[[f64; 2]]| Plot {
            title: String::new(),
            kind,
            x: Axis { label: "x".into(), log2, categories: Vec::new() },
            y: Axis { label: "y".into(), log2, categories: Vec::new() },
            series: vec![Series { name: "s".into(), predicted: false, points: points.to_vec() }],
        };
        let cases: [&[[f64; 2]]; 8] = [
            &[],
            &[[1.0, 1.0]],
            &[[0.0, 0.0], [1.0, 0.0]],
            &[[f64::NAN, 1.0], [2.0, f64::INFINITY]],
            &[[-3.0, -5.0], [2.0, 7.0]],
            &[[1e-9, 1e-9], [2e-9, 3e-9]],
            &[[1.0, 1e300], [2.0, 1e-300]],
            &[[1e18, 4.0], [1e18, 5.0]],
        ];
        for kind in [PlotKind::Line, PlotKind::Bars] {
            for log2 in [false, true] {
                for points in cases {
                    let plot = plot(kind, log2, points);
                    let svg = draw(&plot, "p");
                    inside(&svg);
                    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
                }
            }
        }
    }

    #[test]
    fn values_lie_where_the_axis_says() {
        let linear = Scale::of_lengths(false, [0.0, 4_523.0].into_iter(), [0.0, 500.0]);
        assert_eq!((linear.low, linear.high, linear.step), (0.0, 5_000.0, 1_000.0));
        assert_eq!(linear.place(2_500.0), Some(250.0));
        assert_eq!(linear.ticks()[1], (100.0, "1,000".into()));
        let log = Scale::of_lengths(true, [0.997, 1.0, 32.0].into_iter(), [300.0, 0.0]);
        assert_eq!(log.place(1.0), Some(300.0));
        assert_eq!(log.place(2.0), Some(240.0));
        assert_eq!(log.place(0.0), None);
        let labels: Vec<_> = log.ticks().into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["1", "2", "4", "8", "16", "32"]);
        let sizes = Scale::of_places(true, [1024.0, 268_435_456.0].into_iter(), [0.0, 1.0]);
        assert!(sizes.ticks().iter().any(|(_, label)| label == "2²⁰"), "{:?}", sizes.ticks());
    }

    #[test]
    fn labels_tell_ticks_apart() {
        for (value, step, label) in [
            (0.0, 0.5, "0.0"),
            (1.5, 0.5, "1.5"),
            (0.03, 0.01, "0.03"),
            (50_000.0, 10_000.0, "50k"),
            (2_500_000.0, 500_000.0, "2.5M"),
            (-0.2, 0.2, "-0.2"),
        ] {
            assert_eq!(tick_label(value, step), label, "{value} by {step}");
        }
    }
}
