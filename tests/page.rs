//! The pages in a real browser: headless Chromium, driven by chromedriver, opens them as files.
//!
//! Where either is not installed the tests are ignored with the reason, and fail instead if `WAVELANE_REQUIRE_BROWSER` is
//! set.

mod fixture;

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use serde_json::{Value, json};
use wavelane::report::{self, Plot, Record};

type Outcome = Result<(), Failed>;

/// A name, and the test.
type Case = (&'static str, fn(&Driver) -> Outcome);

const CASES: &[Case] = &[
    ("a_record_is_readable_in_a_browser", a_record_is_readable_in_a_browser),
    ("columns_sort_when_their_heading_is_pressed", columns_sort_when_their_heading_is_pressed),
    ("nothing_is_wider_than_a_phone", nothing_is_wider_than_a_phone),
    ("records_stand_side_by_side_and_stack_on_a_phone", records_stand_side_by_side_and_stack_on_a_phone),
];

fn main() -> ExitCode {
    let required = std::env::var_os("WAVELANE_REQUIRE_BROWSER").is_some();
    let trials = CASES
        .iter()
        .map(|&(name, test)| {
            Trial::ignorable_test(name, move || match missing() {
                None => test(&Driver::start()?).map(|()| Completion::Completed),
                Some(reason) if required => Err(format!("{reason}, but WAVELANE_REQUIRE_BROWSER is set").into()),
                Some(reason) => Ok(Completion::ignored_with(reason)),
            })
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Why there is no browser to drive, if so.
fn missing() -> Option<&'static str> {
    let answers = |program: &&str| {
        let run = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        run.is_ok_and(|status| status.success())
    };
    if !answers(&"chromedriver") {
        Some("chromedriver is not installed")
    } else if !["chromium", "google-chrome"].iter().any(answers) {
        Some("neither chromium nor google-chrome is installed")
    } else {
        None
    }
}

/// A running chromedriver, on a port that it chose.
struct Driver {
    process: Child,
    url: String,
}

impl Driver {
    fn start() -> Result<Self, Failed> {
        let command = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).spawn();
        let mut driver = Self { process: command?, url: String::new() };
        let output = driver.process.stdout.take().ok_or("chromedriver has no output")?;
        for line in BufReader::new(output).lines() {
            if let Some((_, port)) = line?.split_once("successfully on port ") {
                driver.url = format!("http://127.0.0.1:{}", port.trim_end_matches('.'));
                return Ok(driver);
            }
        }
        Err("chromedriver ended without naming its port".into())
    }

    /// Opens a page in a window of this size and runs the test in it.
    fn visit(&self, page: &Path, [width, height]: [u32; 2], test: impl AsyncFnOnce(Client) -> Outcome) -> Outcome {
        let options = json!({
            "args": ["--headless", "--no-sandbox", "--disable-dev-shm-usage"],
            // A window of its own cannot be as narrow as a phone.
            "mobileEmulation": {
                "deviceMetrics": { "width": width, "height": height, "pixelRatio": 1, "mobile": false, "touch": false },
            },
        });
        let Value::Object(capabilities) = json!({ "goog:chromeOptions": options }) else { unreachable!() };
        tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
            let client = ClientBuilder::new(HttpConnector::new()).capabilities(capabilities).connect(&self.url).await?;
            let outcome = async {
                client.goto(&format!("file://{}", page.display())).await?;
                test(client.clone()).await?;
                let faults = client.execute("return faults", vec![]).await?;
                equal("errors of the page", &faults, &json!([]))
            };
            let outcome = outcome.await;
            client.close().await?;
            outcome
        })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Writes a page, which also keeps in `faults` what goes wrong in it.
fn saved(name: &str, html: &str) -> Result<std::path::PathBuf, Failed> {
    const KEEP_FAULTS: &str = "<head>\n<script>const faults = [];\n\
        addEventListener('error', (event) => faults.push(String(event.message ?? event.target)), true);\n\
        console.error = (...what) => faults.push(what.join(' '));</script>\n";
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, html.replacen("<head>\n", KEEP_FAULTS, 1))?;
    Ok(path)
}

fn equal<T: PartialEq + std::fmt::Debug + ?Sized>(what: &str, got: &T, wanted: &T) -> Outcome {
    if got == wanted { Ok(()) } else { Err(format!("{what}: {got:?} instead of {wanted:?}").into()) }
}

const DESK: [u32; 2] = [1280, 900];
const PHONE: [u32; 2] = [390, 844];

fn plots(record: &Record) -> Vec<&Plot> {
    record.experiments.iter().flat_map(|experiment| &experiment.plots).collect()
}

fn a_record_is_readable_in_a_browser(driver: &Driver) -> Outcome {
    let record = fixture::record();
    let page = saved("page-record.html", &report::html::write(&record))?;
    driver.visit(&page, DESK, async |client| {
        equal("title", &*client.title().await?, "wavelane: Imagined GPU")?;
        equal("heading", &*client.find(Locator::Css("h1")).await?.text().await?, "Imagined GPU")?;

        // Every plot is drawn, and named.
        let drawn = "return [...document.querySelectorAll('figure > svg[role=img]')].map((svg) => {
            const box = svg.getBoundingClientRect();
            return [svg.querySelector('title').textContent, box.width > 100 && box.height > 50];
        })";
        let wanted: Vec<_> = plots(&record).iter().map(|plot| json!([plot.title, true])).collect();
        equal("plots", &client.execute(drawn, vec![]).await?, &json!(wanted))?;

        // Opened, each has its points in a table: one row a place.
        for summary in client.find_all(Locator::Css("summary")).await? {
            summary.click().await?;
        }
        let tables = "return [...document.querySelectorAll('details h4')].map((heading) => {
            const table = heading.nextElementSibling.querySelector('table');
            return [heading.innerText, table.getBoundingClientRect().height > 0, table.tBodies[0].rows.length];
        })";
        let wanted: Vec<_> = plots(&record)
            .iter()
            .map(|plot| {
                let places = plot.series.iter().flat_map(|series| &series.points).map(|[x, _]| x.to_bits());
                let places: HashSet<_> = places.collect();
                json!([format!("{}: {}", plot.title, plot.y.label), true, places.len()])
            })
            .collect();
        equal("tables of plots", &client.execute(tables, vec![]).await?, &json!(wanted))?;

        let verdicts = "return [...document.querySelectorAll('article > header')].map((header) => header.innerText)";
        let headers = client.execute(verdicts, vec![]).await?;
        for (header, experiment) in headers.as_array().ok_or("no headers")?.iter().zip(&record.experiments) {
            let text = header.as_str().unwrap_or_default();
            let said = text.contains(&experiment.title) && text.contains(experiment.verdict.word());
            equal(&format!("title and verdict in '{text}'"), &said, &true)?;
        }
        Ok(())
    })
}

fn columns_sort_when_their_heading_is_pressed(driver: &Driver) -> Outcome {
    let page = saved("page-sorted.html", &report::html::write(&fixture::record()))?;
    driver.visit(&page, DESK, async |client| {
        let order =
            "return [...document.querySelector('.sortable').tBodies[0].rows].map((row) => row.cells[0].dataset.value)";
        equal("order of the record", &client.execute(order, vec![]).await?, &json!(["two-way", "guard", "residency"]))?;
        // Its times are 10, 9 and 0.5 s, which as texts would be in another order.
        for (column, direction, wanted) in [
            (1, "ascending", ["guard", "residency", "two-way"]),
            (4, "ascending", ["residency", "guard", "two-way"]),
            (4, "descending", ["two-way", "guard", "residency"]),
        ] {
            let heading = format!(".sortable th:nth-child({column})");
            client.find(Locator::Css(&format!("{heading} button"))).await?.click().await?;
            equal(&format!("column {column}"), &client.execute(order, vec![]).await?, &json!(wanted))?;
            let said = client.find(Locator::Css(&heading)).await?.attr("aria-sort").await?;
            equal("aria-sort", &said.as_deref(), &Some(direction))?;
        }
        Ok(())
    })
}

/// That the page scrolls in no direction but down, folded and unfolded.
async fn fits(client: &Client, width: u32) -> Outcome {
    for summary in [None].into_iter().chain(client.find_all(Locator::Css("summary")).await?.into_iter().map(Some)) {
        if let Some(summary) = summary {
            summary.click().await?;
        }
        let widths = "return [innerWidth, document.documentElement.scrollWidth <= innerWidth]";
        equal("width", &client.execute(widths, vec![]).await?, &json!([width, true]))?;
    }
    Ok(())
}

fn nothing_is_wider_than_a_phone(driver: &Driver) -> Outcome {
    let mut record = fixture::record();
    // Names that a driver might give, and cases without a place to break.
    record.adapter.name = "An-adapter-whose-name-is-one-word-that-is-longer-than-a-line".into();
    record.experiments[0].rows[0].cell = "2^28-items,grid-stride,4-vec4-in-flight,one-word".repeat(3);
    let page = saved("page-phone.html", &report::html::write(&record))?;
    driver.visit(&page, PHONE, async |client| fits(&client, PHONE[0]).await)?;
    let page =
        saved("page-phone-both.html", &report::side_by_side::write(&[("a.json", &record), ("b.json", &record)]))?;
    driver.visit(&page, PHONE, async |client| fits(&client, PHONE[0]).await)
}

fn records_stand_side_by_side_and_stack_on_a_phone(driver: &Driver) -> Outcome {
    let first = fixture::record();
    let mut second = first.clone();
    second.adapter.name = "Another GPU".into();
    let both = [first, second];
    let page = saved("page-both.html", &report::side_by_side::write(&[("a.json", &both[0]), ("b.json", &both[1])]))?;
    for (size, beside) in [(DESK, true), (PHONE, false)] {
        driver.visit(&page, size, async |client| {
            equal("title", &*client.title().await?, "wavelane: 2 records side by side")?;
            // Columns of the first screen and of a card, and the cells of a row that both records have.
            for columns in [".records > section", "#two-way .beside > section", "#two-way .stack tr td[data-record]"] {
                let places = format!(
                    "return [...document.querySelectorAll('{columns}')].slice(0, 2)
                        .map((column) => column.getBoundingClientRect()).map((box) => [box.left, box.top])"
                );
                let places: Vec<[f64; 2]> = serde_json::from_value(client.execute(&places, vec![]).await?)?;
                let [[left, top], [next_left, next_top]] =
                    <[_; 2]>::try_from(places).map_err(|places| format!("{columns}: {places:?}"))?;
                equal(columns, &(top == next_top, left < next_left, top < next_top), &(beside, beside, !beside))?;
            }
            let svgs = client.find_all(Locator::Css("figure > svg[role=img]")).await?.len();
            equal("plots", &svgs, &both.iter().map(|record| plots(record).len()).sum())?;
            let columns = client.find_all(Locator::Css("#guard .beside > section")).await?;
            for (column, record) in columns.iter().zip(&both) {
                let text = column.text().await?;
                let said = text.contains(&record.adapter.name) && text.contains("differs");
                equal(&format!("name and verdict in '{text}'"), &said, &true)?;
            }
            equal("columns", &columns.len(), &2)
        })?;
    }
    Ok(())
}
