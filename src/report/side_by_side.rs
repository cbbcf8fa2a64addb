//! Several records as one HTML page, a column for each.

use std::borrow::Borrow;
use std::fmt::Write;

use super::html::{
    LEGEND, anchors, escape, facts, figure, group_heading, groups, origin, overview, page, plot_points, run_facts,
    verdict,
};
use super::{ExperimentRecord, Record, Row, Verdict};

/// Judged rows that a card shows at once; the others are folded away with those that were not judged.
const KEY_ROWS: usize = 8;

/// A page of these records: what each is of, with key figures and verdicts, a table of every verdict, then a card an
/// experiment in which the records stand beside each other.
///
/// Experiments are the same if their ids are, rows if cell and quantity are. Each record comes with its name, such as that
/// of its file: adapters do not tell two runs of one of them apart.
pub fn write(records: &[(impl AsRef<str>, impl Borrow<Record>)]) -> String {
    let titles: Vec<_> = records.iter().map(|(title, _)| title.as_ref()).collect();
    let records: Vec<_> = records.iter().map(|(_, record)| record.borrow()).collect();
    let mut ids: Vec<&str> = Vec::new();
    for experiment in records.iter().flat_map(|record| &record.experiments) {
        if !ids.contains(&&*experiment.id) {
            ids.push(&experiment.id);
        }
    }
    let anchors = anchors(ids.iter().copied());
    let named = |((n, record), title): ((i32, &&Record), &&str)| {
        let name = &record.adapter.name;
        let is_alone = records.iter().filter(|other| other.adapter.name == *name).count() == 1;
        if is_alone { format!("{n}: {name}") } else { format!("{n}: {title}, {name}") }
    };
    let names: Vec<_> = (1..).zip(&records).zip(&titles).map(named).collect();
    let cards: Vec<_> = ids.iter().zip(&anchors).map(|(id, anchor)| Card::new(id, anchor, &names, &records)).collect();

    let mut body = first_screen(&records, &titles, &names, &cards);
    body += "<main>\n";
    body += &summary(&names, &cards);
    for group in groups(cards.iter().map(Card::any)) {
        body += &group_heading(group);
        cards.iter().filter(|card| card.any().group == group).for_each(|card| body += &card.html());
        body += "</section>\n";
    }
    page(&format!("{} records side by side", records.len()), "several", &(body + "</main>\n"))
}

/// What every record has of one experiment.
struct Card<'a> {
    id: &'a str,
    anchor: &'a str,
    /// What to call each record.
    names: &'a [String],
    /// The command that repeats the experiment as each record has it.
    repeat: Vec<String>,
    /// One a record.
    of: Vec<Option<&'a ExperimentRecord>>,
}

impl<'a> Card<'a> {
    fn new(id: &'a str, anchor: &'a str, names: &'a [String], records: &[&'a Record]) -> Self {
        let of = records.iter().map(|record| record.experiments.iter().find(|e| e.id == id)).collect();
        let repeat = records.iter().map(|record| record.repeat(id)).collect();
        Self { id, anchor, names, repeat, of }
    }

    /// The experiment of the first record that has it: for what is the same in all.
    fn any(&self) -> &'a ExperimentRecord {
        self.of.iter().flatten().next().expect("ids were taken from the records")
    }

    /// Names with what the records have.
    fn columns(&self) -> impl Iterator<Item = (&String, Option<&'a ExperimentRecord>)> {
        self.names.iter().zip(self.of.iter().copied())
    }

    /// Every row that any of the records has, with what each has of it.
    fn rows(&self) -> Vec<Vec<Option<&'a Row>>> {
        let mut keys: Vec<(&str, &str)> = Vec::new();
        for row in self.of.iter().flatten().flat_map(|e| &e.rows) {
            let key = (&*row.cell, &*row.quantity);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let find = |e: &'a ExperimentRecord, (cell, quantity)| {
            e.rows.iter().find(|row| row.cell == cell && row.quantity == quantity)
        };
        keys.into_iter().map(|key| self.of.iter().map(|e| e.and_then(|e| find(e, key))).collect()).collect()
    }

    fn html(&self) -> String {
        let any = self.any();
        let mut html = format!(
            "<article id=\"{0}\">\n<header><h3><a href=\"#{0}\">{1}</a></h3></header>\n<div class=\"body text-only\">\n",
            self.anchor,
            escape(&any.title),
        );
        html += &facts("", &[("Claim", escape(&any.claim))]);
        html += "</div>\n<div class=\"beside\">\n";
        for (record, (name, e)) in self.columns().enumerate() {
            html += &self.column(record, name, e);
        }
        html += "</div>\n";
        let rows = self.rows();
        html += &self.table(&key_rows(&rows));
        let plots: Vec<_> =
            self.columns().flat_map(|(name, e)| e.into_iter().flat_map(|e| &e.plots).map(move |p| (name, p))).collect();
        if !rows.is_empty() {
            let _ = writeln!(
                html,
                "<details><summary>All rows ({}) and plots ({}) as tables</summary>",
                rows.len(),
                plots.len()
            );
            html += &self.table(&rows);
            for (name, plot) in plots {
                html += &plot_points(&format!("{name}, {}", plot.title), plot);
            }
            html += "</details>\n";
        }
        html + "</article>\n"
    }

    /// What one record has of the experiment.
    fn column(&self, record: usize, name: &str, e: Option<&ExperimentRecord>) -> String {
        let name = escape(name);
        let Some(e) = e else {
            return format!("<section>\n<h4>{name}</h4>\n<p class=\"soft\">not in this record</p>\n</section>\n");
        };
        let mut html = format!("<section>\n<h4>{name}</h4>\n<p>{}</p>\n", verdict(e.verdict));
        let repeat = format!("<code>{}</code>", escape(&self.repeat[record]));
        html +=
            &facts("", &[("Predicted", escape(&e.prediction)), ("Measured", escape(&e.finding)), ("Repeat", repeat)]);
        for (index, plot) in e.plots.iter().enumerate() {
            html += &figure(plot, &format!("{}_{record}_{index}", self.anchor), "h5");
        }
        html + "</section>\n"
    }

    /// Rows with a column for each record: the value, its interval, and what it was judged by.
    fn table(&self, rows: &[Vec<Option<&Row>>]) -> String {
        if rows.is_empty() {
            return String::new();
        }
        let mut html = String::from(
            "<div class=\"scroll\"><table class=\"stack\">\n<thead><tr><th scope=\"col\">Case</th><th scope=\"col\">Quantity</th>",
        );
        for name in self.names {
            let _ = write!(html, "<th scope=\"col\" class=\"record\">{}</th>", escape(name));
        }
        html += "</tr></thead>\n<tbody>\n";
        for of in rows {
            let Some(any) = of.iter().flatten().next() else { continue };
            let _ = write!(html, "<tr><th scope=\"row\">{}</th><td>{}</td>", escape(&any.cell), escape(&any.quantity));
            for (name, row) in self.names.iter().zip(of) {
                let shown = row.map_or_else(|| "–".into(), cell);
                let _ = write!(html, "<td data-record=\"{}\">{shown}</td>", escape(name));
            }
            html += "</tr>\n";
        }
        html + "</tbody>\n</table></div>\n"
    }
}

/// A row of one record in a cell.
fn cell(row: &Row) -> String {
    let mut html = match row.verdict {
        Some(Verdict::NotMeasurable) => String::new(),
        _ => row.unit.format(row.value),
    };
    if let Some(p) = row.prediction {
        let _ = write!(html, " <span class=\"soft\">(model {})</span>", row.unit.format(p.value));
    }
    if let Some(judged) = row.verdict {
        html += "<br>";
        html += &verdict(judged);
    }
    html
}

/// The judged rows that say most of how the records compare: those that most records have come first, and among them
/// those that were not judged alike.
fn key_rows<'a>(rows: &[Vec<Option<&'a Row>>]) -> Vec<Vec<Option<&'a Row>>> {
    let is_judged = |row: &Row| row.prediction.is_some();
    let mut key: Vec<_> = rows.iter().filter(|of| of.iter().flatten().any(|row| is_judged(row))).cloned().collect();
    key.sort_by_key(|of| {
        let verdicts: Vec<_> = of.iter().flatten().map(|row| row.verdict).collect();
        (of.len() - verdicts.len(), verdicts.windows(2).all(|pair| pair[0] == pair[1]))
    });
    key.truncate(KEY_ROWS);
    key
}

fn first_screen(records: &[&Record], titles: &[&str], names: &[String], cards: &[Card<'_>]) -> String {
    let mut html =
        format!("<header>\n<h1>{} records side by side</h1>\n{LEGEND}<div class=\"beside records\">\n", records.len());
    let anchor = |e: &ExperimentRecord| {
        cards.iter().find(|card| card.id == e.id).map_or_else(String::new, |card| card.anchor.into())
    };
    for ((record, title), name) in records.iter().zip(titles).zip(names) {
        let anchors: Vec<_> = record.experiments.iter().map(anchor).collect();
        let _ = write!(
            html,
            "<section>\n{}<h2>{}</h2>\n{}{}</section>\n",
            origin(record),
            escape(name),
            overview(record, &anchors),
            facts("facts", &[&[("Record", escape(title))], &run_facts(record)[..]].concat()),
        );
    }
    html + "</div>\n</header>\n"
}

/// Every experiment with the verdict of each record.
fn summary(names: &[String], cards: &[Card<'_>]) -> String {
    let mut html = String::from(
        "<section>\n<h2>Experiments</h2>\n<div class=\"scroll\"><table class=\"sortable\">\n\
         <thead><tr><th scope=\"col\">Experiment</th>",
    );
    for name in names {
        let _ = write!(html, "<th scope=\"col\" class=\"record\">{}</th>", escape(name));
    }
    html += "</tr></thead>\n<tbody>\n";
    for card in cards {
        let _ = write!(
            html,
            "<tr><td data-value=\"{0}\"><a href=\"#{1}\">{0}</a><br><span class=\"soft\">{2}</span></td>",
            escape(card.id),
            card.anchor,
            escape(&card.any().title),
        );
        for e in &card.of {
            let (word, shown) = e.map_or(("", "–".into()), |e| (e.verdict.word(), verdict(e.verdict)));
            let _ = write!(html, "<td data-value=\"{word}\">{shown}</td>");
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table></div>\n</section>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    /// The sample, and another adapter's record of one experiment less, with one verdict and one row that differ.
    fn pair() -> [Record; 2] {
        let first = sample::record();
        let mut second = first.clone();
        second.adapter.name = "Other <GPU>".into();
        second.adapter.counted_lanes = 64;
        second.experiments.remove(0);
        let k_way = &mut second.experiments[0];
        k_way.verdict = Verdict::Differs;
        let row = k_way.rows.last_mut().expect("the experiment has rows");
        (row.value, row.verdict) = (63.7, Some(Verdict::Differs));
        [first, second]
    }

    fn page_of([a, b]: &[Record; 2]) -> String {
        write(&[("a.json", a), ("b.json", b)])
    }

    fn card<'a>(page: &'a str, anchor: &str) -> &'a str {
        let card = page.split(&format!("<article id=\"{anchor}\">")).nth(1).expect("the experiment has a card");
        card.split("</article>").next().expect("a card ends")
    }

    #[test]
    fn the_first_screen_has_a_column_a_record() {
        let page = page_of(&pair());
        let first = page.split("<main>").next().expect("there is a first screen");
        assert!(first.contains("<h1>2 records side by side</h1>"));
        assert!(first.contains("<h2>1: NVIDIA H200</h2>") && first.contains("<h2>2: Other &lt;GPU&gt;</h2>"));
        assert_eq!(first.matches("<dl class=\"figures\">").count(), 2);
        assert_eq!(first.matches("<rect").count(), 32 + 64, "a square a lane");
        // Of the six experiments three hold in the first; the second lacks one of them, and one differs in it.
        assert!(first.contains("<li>3 ") && first.contains("<dd>3 <small>of 5</small>"), "{first}");
        assert!(first.contains("<dd>1 <small>of 4</small>"), "{first}");
    }

    #[test]
    fn rows_stand_beside_each_other_and_those_that_disagree_come_first() {
        let page = page_of(&pair());
        let card = card(&page, "k-way");
        let table = card.split("<tbody>").nth(1).and_then(|rest| rest.split("</tbody>").next()).expect("key rows");
        let first = table.split("</tr>").next().expect("a row");
        assert!(first.contains("<th scope=\"row\">k=64</th><td>time ratio</td>"), "{first}");
        let cells: Vec<_> = first.split("<td data-record=").skip(1).collect();
        assert_eq!(cells.len(), 2);
        assert!(cells[0].contains("31.9") && cells[0].contains("(model 32)") && cells[0].contains("holds"), "{first}");
        assert!(cells[1].contains("63.7") && cells[1].contains("differs"), "{first}");
        assert_eq!(table.matches("<tr>").count(), 7, "every judged row, and none of the others");
        assert_eq!(card.matches("role=\"img\"").count(), 2, "the plot of each");
        assert_eq!(card.matches("Time against one arm: time").count(), 2, "and its points");
    }

    #[test]
    fn two_runs_of_one_adapter_are_told_apart() {
        let [first, _] = pair();
        let second = Record { options: "--full".into(), ..first.clone() };
        let page = page_of(&[first, second]);
        assert!(page.contains("<dt>Record</dt><dd>a.json</dd>") && page.contains("<dt>Record</dt><dd>b.json</dd>"));
        let card = card(&page, "k-way");
        for name in ["1: a.json, NVIDIA H200", "2: b.json, NVIDIA H200"] {
            assert!(page.contains(&format!("<h2>{name}</h2>")), "{name}");
            assert!(page.contains(&format!("<th scope=\"col\" class=\"record\">{name}</th>")), "{name}");
            assert!(card.contains(&format!("<h4>{name}</h4>")), "{name}");
        }
        assert!(card.contains("<code>wavelane measure k-way</code>"), "{card}");
        assert!(card.contains("<code>wavelane measure k-way --full</code>"), "{card}");
    }

    #[test]
    fn what_a_record_lacks_is_said() {
        let page = page_of(&pair());
        let card = card(&page, "lane-map");
        assert!(card.contains("<h4>2: Other &lt;GPU&gt;</h4>\n<p class=\"soft\">not in this record</p>"), "{card}");
        assert!(card.contains("<td data-record=\"2: Other &lt;GPU&gt;\">–</td>"), "{card}");
    }

    #[test]
    fn many_judged_rows_are_cut_to_those_that_most_records_have() {
        let [first, mut second] = pair();
        second.experiments[0].rows.iter_mut().for_each(|row| row.cell += " at 64 lanes");
        let records = [&first, &second];
        let names = ["1".to_string(), "2".to_string()];
        let rows = Card::new("k-way", "k-way", &names, &records).rows();
        assert_eq!(rows.len(), 28, "14 rows of each record, none of them the same");
        assert_eq!(key_rows(&rows).len(), KEY_ROWS);
        let same = [&first; 2];
        let rows = Card::new("k-way", "k-way", &names, &same).rows();
        assert!(rows.len() == 14 && rows.iter().flatten().all(Option::is_some));
    }

    #[test]
    fn ids_are_unique_and_all_links_lead_somewhere() {
        let page = page_of(&pair());
        sample::assert_links(&page);
        for word in ["http", "url(", "@import", "src=", "<link", "<GPU>"] {
            assert!(!page.contains(word), "{word}");
        }
    }
}
