//! The record as one HTML page that needs nothing else: no network, no fonts, readable without its script.

use std::fmt::Write;

use super::format::{date, number};
use super::{ExperimentRecord, Plot, Record, Unit, Verdict, svg, terminal};

/// A page of the whole record: the adapter with its width, key figures and verdicts, a table of all experiments, then
/// a card for each.
pub fn write(record: &Record) -> String {
    let anchors = anchors(record.experiments.iter().map(|e| &*e.id));
    let mut body = first_screen(record, &anchors) + "<main>\n" + &summary(record, &anchors);
    for group in groups(&record.experiments) {
        body += &group_heading(group);
        for (experiment, anchor) in record.experiments.iter().zip(&anchors).filter(|(e, _)| e.group == group) {
            body += &card(experiment, anchor, &record.repeat(&experiment.id));
        }
        body += "</section>\n";
    }
    page(&record.adapter.name, "", &(body + "</main>\n"))
}

/// The frame of a page: its title, style sheet and script.
pub(super) fn page(title: &str, class: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>wavelane: {}</title>\n\
         <style>\n{}</style>\n</head>\n<body class=\"{class}\">\n{body}<script>\n{}</script>\n</body>\n</html>\n",
        escape(title),
        include_str!("page.css"),
        include_str!("page.js"),
    )
}

/// The groups of these experiments, in the order in which they come.
pub(super) fn groups<'a>(experiments: impl IntoIterator<Item = &'a ExperimentRecord>) -> Vec<&'a str> {
    let mut groups: Vec<&str> = Vec::new();
    for experiment in experiments {
        if !groups.contains(&&*experiment.group) {
            groups.push(&experiment.group);
        }
    }
    groups
}

/// The beginning of a group's section.
pub(super) fn group_heading(group: &str) -> String {
    format!("<section>\n<h2>{}</h2>\n", escape(&capitalised(group)))
}

/// Text as HTML text or as an attribute's value in quotes; exponents, which plain text has after a `^`, are raised.
pub(super) fn escape(text: &str) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let mut escaped = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut before = None;
    while let Some(c) = chars.next() {
        let last = before.replace(c);
        match c {
            '^' if last.is_some_and(|c: char| c.is_ascii_digit()) && chars.peek().is_some_and(char::is_ascii_digit) => {
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                    escaped.push(RAISED[digit as usize]);
                    chars.next();
                }
            }
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            // HTML has no place for the others.
            c if c.is_control() && !c.is_ascii_whitespace() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// An anchor for each experiment: its id where that is a plain word of its own.
pub(super) fn anchors<'a>(ids: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (index, id) in ids.into_iter().enumerate() {
        let plain = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let own = plain && !anchors.iter().any(|anchor| anchor == id);
        anchors.push(if own { id.into() } else { format!("experiment_{index}") });
    }
    anchors
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The verdict as a sign and a word.
pub(super) fn verdict(verdict: Verdict) -> String {
    let sign = match verdict {
        Verdict::Holds => '✓',
        Verdict::Differs => '≠',
        Verdict::Ambiguous => '~',
        Verdict::NotMeasurable => '–',
        Verdict::Failed => '✗',
    };
    let class = verdict.word().replace(' ', "-");
    format!("<span class=\"verdict {class}\"><span aria-hidden=\"true\">{sign}</span>{}</span>", verdict.word())
}

fn first_screen(record: &Record, anchors: &[String]) -> String {
    format!(
        "<header>\n{}<h1>{}</h1>\n{}{LEGEND}{}</header>\n",
        origin(record),
        escape(&record.adapter.name),
        overview(record, anchors),
        facts("facts", &run_facts(record)),
    )
}

/// What the verdicts say, for who has never seen one.
pub(super) const LEGEND: &str = "<p class=\"soft verdicts\">Each experiment takes a claim about the lanes of a GPU, predicts a number for this width, and \
     measures it. The claim holds inside the predicted band, differs outside it, is ambiguous where the noise is too large to \
     say, and not measurable where this adapter has no answer.</p>\n";

/// Which version measured, and when.
pub(super) fn origin(record: &Record) -> String {
    format!("<p class=\"eyebrow\">wavelane {} · {}</p>\n", escape(&record.version), date(record.created_s))
}

/// What there is to say of a record at a glance, below the adapter's name: what it is, its lanes, the key figures and
/// the verdicts counted. `anchors` has one for each of the record's experiments.
pub(super) fn overview(record: &Record, anchors: &[String]) -> String {
    let adapter = &record.adapter;
    let mut html = format!(
        "<p class=\"soft\">{}, {}, {}</p>\n{}<dl class=\"figures\">\n",
        escape(&adapter.kind),
        escape(&adapter.backend),
        escape(&adapter.driver),
        lanes(adapter.counted_lanes),
    );
    for figure in figures(record, anchors).into_iter().take(5) {
        let (value, unit) = figure.value.split_once(' ').unwrap_or((&figure.value, ""));
        let of = figure.of.map_or_else(String::new, |(e, anchor, cell)| {
            format!(": <a href=\"#{anchor}\">{}</a>, {}", escape(&e.id), escape(cell))
        });
        let label = figure.label;
        let _ = writeln!(html, "<div><dt>{label}{of}</dt><dd>{value} <small>{unit}</small></dd></div>");
    }
    html += "</dl>\n<ul class=\"counts\">\n";
    for each in Verdict::ALL {
        let count = record.experiments.iter().filter(|e| e.verdict == each).count();
        let _ = writeln!(html, "<li>{count} {}</li>", verdict(each));
    }
    html + "</ul>\n"
}

/// How a record came to be.
pub(super) fn run_facts(record: &Record) -> [(&'static str, String); 5] {
    let adapter = &record.adapter;
    let [min, max] = adapter.reported_lanes;
    let reported = if min == max { min.to_string() } else { format!("{min} to {max}") };
    [
        ("Lanes", format!("{} counted, {reported} reported", adapter.counted_lanes)),
        ("Path", format!("{}: {}", adapter.path, adapter.path_reason)),
        ("Clock", adapter.clock()),
        ("Run", format!("{}, {} s", record.effort, number(record.wall_s))),
        ("Note", record.caution().into()),
    ]
    .map(|(name, text)| (name, escape(&text)))
}

/// One square a lane.
fn lanes(count: u32) -> String {
    let count = count.clamp(1, crate::shader::MAX_LANES);
    let columns = count.min(32);
    let (width, height) = (columns * 14 - 3, count.div_ceil(columns) * 14 - 3);
    let mut svg =
        format!("<svg class=\"lanes\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" aria-hidden=\"true\">");
    for lane in 0..count {
        let (x, y) = (lane % columns * 14, lane / columns * 14);
        let _ = write!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"11\" height=\"11\" rx=\"2\"/>");
    }
    svg + "</svg>\n"
}

struct Figure<'a> {
    value: String,
    label: String,
    /// The experiment with its anchor, and the cell.
    of: Option<(&'a ExperimentRecord, &'a str, &'a str)>,
}

/// Key figures of any record, the most telling first.
fn figures<'a>(record: &'a Record, anchors: &'a [String]) -> Vec<Figure<'a>> {
    let plain = |value: String, label: &str| Some(Figure { value, label: label.into(), of: None });
    // The largest value of a unit, among the experiments of a group or of all. What is ambiguous is shown only where there
    // is nothing else, and then says so.
    let largest = |unit: Unit, group: Option<&str>, label: &str| {
        let of_group =
            record.experiments.iter().zip(anchors).filter(|(e, _)| group.is_none_or(|group| e.group == group));
        let rows = of_group.flat_map(|(e, anchor)| e.rows.iter().map(move |row| (e, anchor, row)));
        rows.filter(|(_, _, row)| row.unit == unit && row.value.is_finite())
            .map(|(e, anchor, row)| {
                (e, anchor, row, [Some(e.verdict), row.verdict].contains(&Some(Verdict::Ambiguous)))
            })
            .max_by(|(_, _, a, a_unsure), (_, _, b, b_unsure)| b_unsure.cmp(a_unsure).then(a.value.total_cmp(&b.value)))
            .map(|(e, anchor, row, is_unsure)| Figure {
                value: if unit == Unit::Ratio { number(row.value) + " times" } else { unit.format(row.value) },
                label: format!("{label}{}", if is_unsure { " (ambiguous)" } else { "" }),
                of: Some((e, anchor, &row.cell)),
            })
    };
    let is_judged = |verdict| !matches!(verdict, Verdict::NotMeasurable | Verdict::Failed);
    let judged = record.experiments.iter().filter(|e| is_judged(e.verdict)).count();
    let count = |verdict| record.experiments.iter().filter(|e| e.verdict == verdict).count();
    let hold = count(Verdict::Holds);
    let claims = match count(Verdict::Ambiguous) {
        0 => "claims of the SIMT model hold here".into(),
        unsure => format!("claims of the SIMT model hold here, {unsure} ambiguous"),
    };
    let drift = record.experiments.iter().filter_map(|e| e.reference_drift).map(|drift| (drift - 1.0).abs());
    let candidates = [
        plain(format!("{} lanes", record.adapter.counted_lanes), "in a subgroup, counted"),
        plain(format!("{hold} of {judged}"), &claims),
        largest(Unit::GbPerS, None, "most memory moved"),
        largest(Unit::Ratio, Some("lanes"), "dearest branch"),
        largest(Unit::GopsPerS, None, "most lane-operations"),
        plain(format!("{} s", number(record.wall_s)), "for the whole run"),
        drift.reduce(f64::max).and_then(|most| plain(format!("{:.1} %", most * 100.0), "the clock moved at most")),
    ];
    candidates.into_iter().flatten().collect()
}

fn summary(record: &Record, anchors: &[String]) -> String {
    let mut html = String::from(
        "<section>\n<h2>Experiments</h2>\n<div class=\"scroll\"><table class=\"sortable\">\n<thead><tr><th scope=\"col\">Experiment</th>\
         <th scope=\"col\">Verdict</th><th scope=\"col\" class=\"wide\">Measured</th>\
         <th scope=\"col\" class=\"number wide\">Time</th></tr></thead>\n<tbody>\n",
    );
    for (e, anchor) in record.experiments.iter().zip(anchors) {
        let _ = writeln!(
            html,
            "<tr><td data-value=\"{0}\"><a href=\"#{anchor}\">{0}</a><br><span class=\"soft\">{1}</span></td>\
             <td data-value=\"{2}\">{3}</td><td class=\"wide\">{4}</td>\
             <td class=\"number wide\" data-value=\"{5:.6}\">{6}</td></tr>",
            escape(&e.id),
            escape(&e.title),
            e.verdict.word(),
            verdict(e.verdict),
            escape(&e.finding),
            e.wall_s,
            Unit::Ns.format(1e9 * e.wall_s),
        );
    }
    html + "</tbody>\n</table></div>\n</section>\n"
}

/// A description list of names and HTML texts, without the empty ones.
pub(super) fn facts(class: &str, facts: &[(&str, String)]) -> String {
    let mut html = format!("<dl class=\"{class}\">\n");
    for (name, text) in facts.iter().filter(|(_, text)| !text.is_empty()) {
        let _ = writeln!(html, "<dt>{name}</dt><dd>{text}</dd>");
    }
    html + "</dl>\n"
}

fn card(e: &ExperimentRecord, anchor: &str, repeat: &str) -> String {
    let control = e.control.as_ref().map_or_else(String::new, |c| {
        format!(
            "{}: {}, judged against {}: {}",
            escape(&c.what),
            number(c.value),
            Unit::Ratio.format_range([c.prediction.low, c.prediction.high]),
            verdict(c.verdict),
        )
    });
    let mut html = format!(
        "<article id=\"{anchor}\">\n<header><h3><a href=\"#{anchor}\">{}</a></h3>{}</header>\n<div class=\"body{}\">\n<div>\n",
        escape(&e.title),
        verdict(e.verdict),
        match e.plots.len() {
            0 => " text-only",
            1 => "",
            _ => " many",
        },
    );
    html += &facts(
        "",
        &[
            ("Claim", escape(&e.claim)),
            ("Predicted", escape(&e.prediction)),
            ("Measured", escape(&e.finding)),
            ("Method", escape(&e.method)),
            ("Control, which must differ", control),
            ("Reference kernel", e.reference_drift.map_or_else(String::new, terminal::drift)),
            ("Repeat", format!("<code>{}</code>", escape(repeat))),
        ],
    );
    html += "</div>\n";
    if !e.plots.is_empty() {
        html += "<div>\n";
        for (index, plot) in e.plots.iter().enumerate() {
            html += &figure(plot, &format!("{anchor}_{index}"), "h4");
        }
        html += "</div>\n";
    }
    html += "</div>\n";
    let count = |count: usize, one: &str, more: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {more}")),
    };
    let counts = [count(e.rows.len(), "row", "rows"), count(e.plots.len(), "plot as a table", "plots as tables")];
    let inside: Vec<_> = counts.into_iter().flatten().collect();
    if !inside.is_empty() {
        let _ = writeln!(html, "<details><summary>{}</summary>", inside.join(" and "));
        html += &rows(e);
        e.plots.iter().for_each(|plot| html += &plot_points(&plot.title, plot));
        html += "</details>\n";
    }
    html + "</article>\n"
}

/// A plot with its heading, an element of this name, and its legend.
pub(super) fn figure(plot: &Plot, id: &str, heading: &str) -> String {
    let mut html = format!("<figure>\n<figcaption><{heading}>{}</{heading}>", escape(&plot.title));
    html += "<ul class=\"legend\">";
    for (index, series) in plot.series.iter().enumerate() {
        let _ = write!(html, "<li>{}{}</li>", svg::swatch(plot, index), escape(&series.name));
    }
    html += "</ul></figcaption>\n";
    html + &svg::draw(plot, id) + "\n</figure>\n"
}

fn rows(e: &ExperimentRecord) -> String {
    if e.rows.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Case</th><th scope=\"col\">Quantity</th>\
         <th scope=\"col\" class=\"number\">Measured</th><th scope=\"col\" class=\"number\">95 % interval</th>\
         <th scope=\"col\" class=\"number\">Samples</th><th scope=\"col\" class=\"number\">Predicted (band)</th>\
         <th scope=\"col\">Verdict</th><th scope=\"col\">Path, checks, clock</th></tr></thead>\n<tbody>\n",
    );
    for row in &e.rows {
        let note =
            row.note.as_ref().map_or_else(String::new, |n| format!("<br><span class=\"soft\">{}</span>", escape(n)));
        let _ = writeln!(
            html,
            "<tr><td>{}{note}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"number\">{}</td><td>{}</td><td class=\"soft\">{}, {}, {}</td></tr>",
            escape(&row.cell),
            escape(&row.quantity),
            row.unit.format(row.value),
            row.spread(),
            row.samples.len(),
            row.predicted_text(),
            row.verdict.map_or_else(String::new, verdict),
            escape(&row.path),
            escape(&row.checks),
            escape(&row.clock),
        );
    }
    html + "</tbody>\n</table></div>\n"
}

/// The plot as a table under this title: one line an x, one column a series.
pub(super) fn plot_points(title: &str, plot: &Plot) -> String {
    let mut html = format!(
        "<h4>{}: {}</h4>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">{}</th>",
        escape(title),
        escape(&plot.y.label),
        escape(&plot.x.label)
    );
    for series in &plot.series {
        let _ = write!(html, "<th scope=\"col\" class=\"number\">{}</th>", escape(&series.name));
    }
    html += "</tr></thead>\n<tbody>\n";
    let mut places: Vec<f64> = plot.series.iter().flat_map(|s| s.points.iter().map(|point| point[0])).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    for x in places {
        let name = plot.x.categories.get(x as usize).map_or_else(|| number(x), |name| escape(name));
        let _ = write!(html, "<tr><th scope=\"row\">{name}</th>");
        for series in &plot.series {
            let y = series.points.iter().find(|point| point[0] == x).map_or_else(String::new, |point| number(point[1]));
            let _ = write!(html, "<td class=\"number\">{y}</td>");
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table></div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    /// Every element is closed, in order.
    fn balanced(html: &str) {
        const VOID: [&str; 3] = ["meta", "br", "!doctype"];
        let mut open: Vec<&str> = Vec::new();
        let script = html.find("<script>").expect("the page has a script");
        for tag in html[..script].split('<').skip(1) {
            let (tag, _) = tag.split_once('>').unwrap_or_else(|| panic!("<{tag} has no end"));
            let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
            if let Some(closing) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(closing), "after {open:?}");
            } else if !tag.ends_with('/') && !VOID.contains(&name) {
                open.push(name);
            }
        }
        assert_eq!(open, ["html", "body"]);
    }

    #[test]
    fn the_page_needs_nothing_else() {
        let page = write(&sample::record());
        for word in ["http", "url(", "@import", "src=", "<link"] {
            assert!(!page.contains(word), "{word}");
        }
        balanced(&page);
    }

    #[test]
    fn what_a_record_says_is_text_and_not_markup() {
        let page = write(&sample::record());
        assert!(!page.contains("<script>alert") && !page.contains("<marked>") && !page.contains("<points>"));
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        assert!(page.contains("Names, &quot;quoted&quot; &amp; &lt;marked&gt;: größer, 数"));
        assert_eq!(escape("a\u{0}b\n'"), "a\u{fffd}b\n&#39;");
    }

    #[test]
    fn exponents_are_raised() {
        assert_eq!(escape("2^28 items, 10^9 < 10^10"), "2²⁸ items, 10⁹ &lt; 10¹⁰");
        assert_eq!(escape("a^2, ^2, 2^, 2^n"), "a^2, ^2, 2^, 2^n");
    }

    #[test]
    fn the_first_screen_has_adapter_width_figures_and_verdicts() {
        let page = write(&sample::record());
        let first = page.split("<main>").next().expect("there is a first screen");
        assert!(first.contains("<h1>NVIDIA H200</h1>"));
        assert_eq!(first.matches("<rect").count(), 32, "a square a lane");
        let figures = first.split("<dl class=\"figures\">").nth(1).and_then(|rest| rest.split("</dl>").next());
        assert_eq!(figures.map(|figures| figures.matches("<dt>").count()), Some(5));
        assert!(first.contains("4,523 <small>GB/s</small>"), "{first}");
        assert!(first.contains("hold here, 1 ambiguous</dt><dd>3 <small>of 5</small>"), "{first}");
        for verdict in Verdict::ALL {
            assert!(first.contains(verdict.word()));
        }
        for (verdict, count) in [("holds", 3), ("not measurable", 1), ("failed", 1)] {
            assert!(
                first.contains(&format!("<li>{count} <span class=\"verdict {}\">", verdict.replace(' ', "-"))),
                "{first}"
            );
        }
    }

    #[test]
    fn an_ambiguous_figure_is_not_shown_as_a_fact() {
        let mut record = sample::record();
        let dearest = |record: &Record| {
            let anchors = anchors(record.experiments.iter().map(|e| &*e.id));
            let figures = figures(record, &anchors);
            let figure = figures.iter().find(|figure| figure.label.starts_with("dearest")).expect("a branch was timed");
            (figure.value.clone(), figure.label.clone())
        };
        assert_eq!(dearest(&record), ("31.9 times".into(), "dearest branch".into()));
        // A dearer one, of which nobody can be sure.
        let mut unsure = record.experiments[1].clone();
        (unsure.id, unsure.verdict) = ("unsure".into(), Verdict::Ambiguous);
        unsure.rows.iter_mut().for_each(|row| row.value *= 2.0);
        record.experiments.push(unsure);
        assert_eq!(dearest(&record), ("31.9 times".into(), "dearest branch".into()));
        record.experiments.retain(|e| e.id != "k-way");
        assert_eq!(dearest(&record), ("63.8 times".into(), "dearest branch (ambiguous)".into()));
    }

    #[test]
    fn every_experiment_has_a_card_with_its_plots_rows_and_command() {
        let record = Record { options: "--emulate 64".into(), ..sample::record() };
        let page = write(&record);
        let cards: Vec<_> = page.split("<article").skip(1).collect();
        assert_eq!(cards.len(), record.experiments.len());
        for e in &record.experiments {
            let command = format!("<code>wavelane measure {} --emulate 64</code>", escape(&e.id));
            let card = cards.iter().find(|card| card.contains(&command)).expect("a card names its command");
            assert_eq!(card.matches("role=\"img\"").count(), e.plots.len());
            assert_eq!(card.matches("<desc").count(), e.plots.len());
            for row in &e.rows {
                assert!(card.contains(&format!("<td>{}", escape(&row.cell))), "{}", row.cell);
            }
        }
    }

    #[test]
    fn anchors_are_unique_and_all_links_lead_somewhere() {
        let mut record = sample::record();
        record.experiments.push(record.experiments[0].clone());
        let page = write(&record);
        sample::assert_links(&page);
    }
}
