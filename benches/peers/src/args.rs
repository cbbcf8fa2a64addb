//! The command line.

use std::path::PathBuf;

use crate::Result;
use crate::case::Primitive;
use crate::item::Item;

pub(crate) const USAGE: &str = "\
wavelane against other libraries, on one adapter; one CSV row a case.

  --sizes 10,16,20,24,28           items, as powers of two (0 to 30)
  --primitives reduce,scan,select  what is measured
  --elements u32,i32,f32,u64       element types; peers have u32 only (default: u32)
  --rounds N                       samples of each contender (default: 9 to 101, by the time they take)
  --adapter NAME                   a part of the adapter's name, or its index
  --cub PROGRAM                    the program made from cub/cub.cu, to be timed in turns with ours
";

pub(crate) const ELEMENTS: [&str; 4] = [u32::NAME, i32::NAME, f32::NAME, u64::NAME];

pub(crate) struct Args {
    pub(crate) sizes: Vec<u32>,
    pub(crate) primitives: Vec<Primitive>,
    pub(crate) elements: Vec<&'static str>,
    pub(crate) rounds: Option<usize>,
    pub(crate) adapter: Option<String>,
    pub(crate) cub: Option<PathBuf>,
    pub(crate) help: bool,
}

impl Args {
    pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Self> {
        let mut parsed = Self {
            sizes: vec![10, 16, 20, 24, 28],
            primitives: Primitive::ALL.into(),
            elements: vec![u32::NAME],
            rounds: None,
            adapter: None,
            cub: None,
            help: false,
        };
        let mut words = args.flat_map(|arg| match arg.split_once('=') {
            Some((option, value)) if option.starts_with("--") => vec![option.to_string(), value.to_string()],
            _ => vec![arg],
        });
        while let Some(option) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{option} needs a value"));
            match option.as_str() {
                "--sizes" => parsed.sizes = list(&value()?, |s| s.parse().ok().filter(|log2| *log2 <= 30))?,
                "--primitives" => {
                    parsed.primitives = list(&value()?, |s| Primitive::ALL.into_iter().find(|p| p.name() == s))?;
                }
                "--elements" => parsed.elements = list(&value()?, |s| ELEMENTS.into_iter().find(|e| *e == s))?,
                "--rounds" => {
                    let text = value()?;
                    let rounds = text.parse().ok().filter(|rounds| *rounds > 0);
                    parsed.rounds = Some(rounds.ok_or_else(|| format!("--rounds {text}: not a number above 0"))?);
                }
                "--adapter" => parsed.adapter = Some(value()?),
                "--cub" => parsed.cub = Some(value()?.into()),
                "--help" | "-h" => parsed.help = true,
                // What `cargo bench` would pass.
                "--bench" => {}
                _ => return Err(format!("unknown option {option}\n\n{USAGE}").into()),
            }
        }
        Ok(parsed)
    }
}

fn list<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Vec<T>> {
    let items = text.split(',').map(|item| parse(item.trim()).ok_or_else(|| format!("'{item}' is none of those")));
    Ok(items.collect::<std::result::Result<_, _>>().map_err(|error| format!("{error}\n\n{USAGE}"))?)
}
