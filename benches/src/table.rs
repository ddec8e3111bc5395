//! Rows as a Markdown table.

use std::fmt::{self, Display, Formatter};

use crate::measure::CALM;
use crate::row::{Bar, Met, Row, Unit};

/// Shows rows as a table.
#[derive(Debug)]
pub struct Table<'a>(pub &'a [Row]);

impl Display for Table<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "| What | Ours | Baseline | Ratio | Bar | Met | Spread of the baseline |")?;
        writeln!(f, "| --- | ---: | ---: | ---: | --- | --- | ---: |")?;
        for row in self.0 {
            let figure = |amount| figure(amount, row);
            let comparison = &row.comparison;
            let spread = row.baseline_spread();
            writeln!(
                f,
                "| {} | {} | {}: {} | {:.2} | {} | {} | {:.0} %{} |",
                comparison.what,
                figure(row.ours.median()),
                comparison.baseline,
                figure(row.baseline.median()),
                row.ratio(),
                bar(comparison.bar, comparison.unit),
                met(row.met()),
                spread * 100.0,
                if spread > CALM { ", too wide" } else { "" },
            )?;
        }
        Ok(())
    }
}

fn figure(amount: f64, row: &Row) -> String {
    match row.comparison.unit {
        Unit::Lines => {
            format!("{}/s, {:.0} MB/s", thousands(amount), amount * row.line_bytes / 1e6)
        }
        unit => plain(amount, unit),
    }
}

fn plain(amount: f64, unit: Unit) -> String {
    match unit {
        Unit::Rate | Unit::Lines => format!("{}/s", thousands(amount)),
        Unit::Time if amount < 1e-3 => format!("{:.1} µs", amount * 1e6),
        Unit::Time if amount < 1.0 => format!("{:.2} ms", amount * 1e3),
        Unit::Time => format!("{amount:.2} s"),
        Unit::Bytes => format!("{:.2} MB", amount / 1e6),
    }
}

/// Without a fraction, with a comma before every three digits.
fn thousands(amount: f64) -> String {
    let digits = format!("{amount:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn bar(bar: Bar, unit: Unit) -> String {
    let (sign, bar, stretch, show): (_, _, _, &dyn Fn(f64) -> String) = match bar {
        Bar::None => return "–".to_owned(),
        Bar::AtLeast(bar, stretch) => ("≥", bar, stretch, &|bar| format!("{bar}")),
        Bar::AtMost(bar, stretch) => ("≤", bar, stretch, &|bar| format!("{bar}")),
        Bar::Absolute(bar, stretch) => ("≤", bar, stretch, &|bar| plain(bar, unit)),
    };
    let stretch = stretch.map(|stretch| format!(" (stretch: {})", show(stretch))).unwrap_or_default();
    format!("{sign} {}{stretch}", show(bar))
}

const fn met(met: Met) -> &'static str {
    match met {
        Met::NoBar => "–",
        Met::No => "**no**",
        Met::Yes => "yes",
        Met::Stretch => "stretch",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::row::{Comparison, LINE_BYTES};

    #[test]
    fn a_table_is_markdown() {
        let samples = BTreeMap::from([
            ("ours", vec![1_234_567.0]),
            ("theirs", vec![500.0, 1000.0]),
            ("short", vec![0.000_25]),
            (LINE_BYTES, vec![300.0]),
        ]);
        let rows: Vec<Row> = [
            ("replay", "ours", "theirs", Unit::Lines, Bar::AtLeast(1.8, Some(2.2))),
            ("open", "short", "short", Unit::Time, Bar::Absolute(1e-3, None)),
            ("size", "ours", "ours", Unit::Bytes, Bar::AtMost(0.5, None)),
            ("append", "theirs", "ours", Unit::Rate, Bar::None),
        ]
        .into_iter()
        .map(|(what, ours, baseline, unit, bar)| {
            Row::new(&Comparison { what, ours, baseline, unit, bar }, &samples).unwrap()
        })
        .collect();
        let expected = "\
| What | Ours | Baseline | Ratio | Bar | Met | Spread of the baseline |
| --- | ---: | ---: | ---: | --- | --- | ---: |
| replay | 1,234,567/s, 370 MB/s | theirs: 750/s, 0 MB/s | 1646.09 | ≥ 1.8 (stretch: 2.2) | stretch | 67 %, too wide |
| open | 250.0 µs | short: 250.0 µs | 1.00 | ≤ 1.00 ms | yes | 0 % |
| size | 1.23 MB | ours: 1.23 MB | 1.00 | ≤ 0.5 | **no** | 0 % |
| append | 750/s | ours: 1,234,567/s | 0.00 | – | – | 0 % |
";
        assert_eq!(Table(&rows).to_string(), expected);
    }
}
