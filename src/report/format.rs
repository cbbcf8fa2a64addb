//! How values, verdicts and dates read: the one place for every view.

#[cfg(feature = "cli")]
use super::Row;
use super::{Unit, Verdict};

impl Verdict {
    /// Every verdict, in the order in which they are counted.
    pub const ALL: [Self; 5] = [Self::Holds, Self::Differs, Self::Ambiguous, Self::NotMeasurable, Self::Failed];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Differs => "differs",
            Self::Ambiguous => "ambiguous",
            Self::NotMeasurable => "not measurable",
            Self::Failed => "failed",
        }
    }
}

impl Unit {
    /// The unit's name in records: `ns`, `gb-per-s`, …
    pub fn name(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::GbPerS => "gb-per-s",
            Self::GopsPerS => "gops-per-s",
            Self::Ratio => "ratio",
            Self::Share => "share",
            Self::Lanes => "lanes",
            Self::Steps => "steps",
            Self::Items => "items",
            Self::Issues => "issues",
            Self::Sectors => "sectors",
            Self::Count => "count",
        }
    }

    /// A value of this unit for a reader: three significant digits with the unit, counts in full.
    ///
    /// ```
    /// use wavelane::report::Unit;
    /// assert_eq!(Unit::Ns.format(4_230.0), "4.23 us");
    /// assert_eq!(Unit::GbPerS.format(4251.3), "4,251 GB/s");
    /// assert_eq!(Unit::Share.format(0.7812), "78.1 %");
    /// ```
    pub fn format(self, value: f64) -> String {
        self.format_as(value, value)
    }

    /// A range of values of this unit: `4.20 to 4.31 us`.
    pub fn format_range(self, [low, high]: [f64; 2]) -> String {
        let largest = if low.abs() > high.abs() { low } else { high };
        let (low, high) = (self.format_as(low, largest), self.format_as(high, largest));
        if high == low {
            return high;
        }
        let low = match high.split_once(' ') {
            Some((_, symbol)) => low.strip_suffix(symbol).unwrap_or(&low).trim_end(),
            None => &low,
        };
        format!("{low} to {high}")
    }

    /// `value`, scaled as `like` is.
    fn format_as(self, value: f64, like: f64) -> String {
        let (scale, symbol) = match self {
            // From 999.5 on, three digits round to the next unit.
            Self::Ns => match like.abs() {
                ns if ns < 999.5 => (1.0, "ns"),
                ns if ns < 999.5e3 => (1e3, "us"),
                ns if ns < 999.5e6 => (1e6, "ms"),
                _ => (1e9, "s"),
            },
            Self::GbPerS => (1.0, "GB/s"),
            Self::GopsPerS => (1.0, "Gop/s"),
            Self::Share => (0.01, "%"),
            Self::Ratio | Self::Count => (1.0, ""),
            Self::Lanes => (1.0, "lanes"),
            Self::Steps => (1.0, "steps"),
            Self::Items => (1.0, "items"),
            Self::Issues => (1.0, "issues"),
            Self::Sectors => (1.0, "sectors"),
        };
        if symbol.is_empty() { number(value / scale) } else { format!("{} {symbol}", number(value / scale)) }
    }
}

#[cfg(feature = "cli")]
impl Row {
    /// The prediction with its band, for a reader: `2.00 (1.90 to 2.10)`.
    pub(super) fn predicted_text(&self) -> String {
        self.prediction.map_or_else(String::new, |p| {
            format!("{} ({})", self.unit.format(p.value), self.unit.format_range([p.low, p.high]))
        })
    }

    /// The interval, for a reader; empty where it adds nothing to the value.
    pub(super) fn spread(&self) -> String {
        if self.interval == [self.value; 2] { String::new() } else { self.unit.format_range(self.interval) }
    }
}

/// Three significant digits without exponent, whole numbers in full, thousands separated.
pub(super) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    if value == 0.0 {
        return "0".into();
    }
    // Of the rounded value: 0.9996 reads 1.00.
    let rounded = format!("{:.2e}", value.abs());
    let magnitude = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let whole = value.fract() == 0.0 && value.abs() < 1e15;
    let decimals = if whole { 0 } else { (2i32 - magnitude).clamp(0, 9) as usize };
    let text = format!("{:.decimals$}", value.abs());
    let (integer, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = if value < 0.0 { String::from("-") } else { String::new() };
    for (i, digit) in integer.chars().enumerate() {
        if i > 0 && (integer.len() - i) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

/// A date and time in UTC: `2026-11-29 20:10 UTC`.
#[cfg(feature = "cli")]
pub(super) fn date(seconds_since_1970: u64) -> String {
    let (days, second) = (seconds_since_1970 / 86_400, seconds_since_1970 % 86_400);
    // Years are counted from March, so that the leap day is a year's last; 719,468 days lie between March of the
    // year 0 and 1970, 146,097 days are 400 years.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (era * 400 + year + u64::from(month >= 10), if month < 10 { month + 3 } else { month - 9 });
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", second / 3_600, second / 60 % 60)
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (1.977, "1.98"),
            (31.951, "32.0"),
            (427.4, "427"),
            (4_251.3, "4,251"),
            (268_435_456.0, "268,435,456"),
            (0.031_25, "0.0312"),
            (0.999_6, "1.00"),
            (99.97, "100"),
            (-12.34, "-12.3"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
        ] {
            assert_eq!(number(value), text, "{value}");
        }
    }

    #[test]
    fn times_take_the_unit_that_fits() {
        for (ns, text) in [
            (32.0, "32 ns"),
            (999.4, "999 ns"),
            (999.6, "1.00 us"),
            (4_230.0, "4.23 us"),
            (327_000.0, "327 us"),
            (2_500_000.0, "2.50 ms"),
            (48.2e9, "48.2 s"),
            (-4_230.0, "-4.23 us"),
        ] {
            assert_eq!(Unit::Ns.format(ns), text);
        }
    }

    #[test]
    fn ranges_name_their_unit_once() {
        assert_eq!(Unit::Ns.format_range([950.0, 1_050.0]), "0.950 to 1.05 us");
        assert_eq!(Unit::GbPerS.format_range([4_100.0, 4_300.0]), "4,100 to 4,300 GB/s");
        assert_eq!(Unit::Ratio.format_range([1.9, 2.1]), "1.90 to 2.10");
        assert_eq!(Unit::Lanes.format_range([32.0, 32.0]), "32 lanes");
        assert_eq!(Unit::Ratio.format_range([2.0, 2.0]), "2");
    }

    #[test]
    fn dates_by_hand() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_740_787_199), "2025-02-28 23:59 UTC");
        assert_eq!(date(1_796_083_199), "2026-11-30 23:59 UTC");
        assert_eq!(date(4_107_542_400), "2100-03-01 00:00 UTC");
    }
}
