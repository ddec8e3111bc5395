//! One row of the table: a figure of ours, what it is compared with, and what it should be.

use std::collections::BTreeMap;

use crate::measure::Samples;
use crate::setting::Result;

/// What a row compares; the figures go by the names that a round gives them.
#[derive(Debug, Clone, Copy)]
pub struct Comparison {
    /// What the row is about.
    pub what: &'static str,
    /// The figure of ours.
    pub ours: &'static str,
    /// The figure that it is compared with.
    pub baseline: &'static str,
    /// What both are.
    pub unit: Unit,
    /// What should come out.
    pub bar: Bar,
}

/// What a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// So many a second.
    Rate,
    /// Lines a second, shown in bytes a second too.
    Lines,
    /// Seconds.
    Time,
    /// Bytes.
    Bytes,
}

/// What should come out, and what would be better still.
#[derive(Debug, Clone, Copy)]
pub enum Bar {
    /// It is only shown.
    None,
    /// Ours is at least so many times the baseline.
    AtLeast(f64, Option<f64>),
    /// Ours is at most so many times the baseline.
    AtMost(f64, Option<f64>),
    /// Ours is at most so much, whatever the baseline is.
    Absolute(f64, Option<f64>),
}

/// How a row came out against its bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Met {
    /// There is no bar.
    NoBar,
    /// The bar is missed.
    No,
    /// The bar is met.
    Yes,
    /// So is what would be better still.
    Stretch,
}

/// The figure whose median says how long a line is in a group that has [`Unit::Lines`].
pub const LINE_BYTES: &str = "bytes of a line";

/// One row, measured.
#[derive(Debug, Clone)]
pub struct Row {
    /// What was compared.
    pub comparison: Comparison,
    /// Our figures.
    pub ours: Samples,
    /// Those of the baseline.
    pub baseline: Samples,
    /// Bytes of a line, for [`Unit::Lines`].
    pub line_bytes: f64,
}

impl Row {
    /// The row of `comparison` among the figures of all rounds.
    pub fn new(comparison: &Comparison, samples: &BTreeMap<&'static str, Vec<f64>>) -> Result<Self> {
        let find = |name: &str| {
            let found = samples.get(name).cloned().map(Samples::new);
            found.ok_or_else(|| format!("no round measured `{name}`"))
        };
        let line_bytes = match comparison.unit {
            Unit::Lines => find(LINE_BYTES)?.median(),
            Unit::Rate | Unit::Time | Unit::Bytes => 0.0,
        };
        Ok(Self {
            comparison: *comparison,
            ours: find(comparison.ours)?,
            baseline: find(comparison.baseline)?,
            line_bytes,
        })
    }

    /// Our median as a multiple of the baseline's.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.ours.median() / self.baseline.median()
    }

    /// How far the figures of the baseline lie apart.
    #[must_use]
    pub fn baseline_spread(&self) -> f64 {
        self.baseline.spread()
    }

    /// Whether it is what it should be.
    #[must_use]
    pub fn met(&self) -> Met {
        let (ours, ratio) = (self.ours.median(), self.ratio());
        let judge = |bar: f64, stretch: Option<f64>, reaches: &dyn Fn(f64) -> bool| {
            if stretch.is_some_and(reaches) {
                Met::Stretch
            } else if reaches(bar) {
                Met::Yes
            } else {
                Met::No
            }
        };
        match self.comparison.bar {
            Bar::None => Met::NoBar,
            Bar::AtLeast(bar, stretch) => judge(bar, stretch, &|least| ratio >= least),
            Bar::AtMost(bar, stretch) => judge(bar, stretch, &|most| ratio <= most),
            Bar::Absolute(bar, stretch) => judge(bar, stretch, &|most| ours <= most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ours: f64, bar: Bar) -> Row {
        let comparison = Comparison { what: "", ours: "a", baseline: "b", unit: Unit::Time, bar };
        Row::new(&comparison, &BTreeMap::from([("a", vec![ours]), ("b", vec![2.0])])).unwrap()
    }

    #[test]
    fn a_bar_is_met_from_the_right_side() {
        let (least, most) = (Bar::AtLeast(2.0, Some(3.0)), Bar::AtMost(2.0, Some(1.0)));
        let absolute = Bar::Absolute(2.0, None);
        for (ours, bar, expected) in [
            (3.9, least, Met::No),
            (4.0, least, Met::Yes),
            (6.0, least, Met::Stretch),
            (4.1, most, Met::No),
            (4.0, most, Met::Yes),
            (2.0, most, Met::Stretch),
            (2.1, absolute, Met::No),
            (2.0, absolute, Met::Yes),
            (2.0, Bar::None, Met::NoBar),
        ] {
            assert_eq!(row(ours, bar).met(), expected, "{ours} {bar:?}");
        }
    }

    #[test]
    fn a_figure_that_no_round_measured_is_an_error() {
        let comparison = Comparison { what: "", ours: "a", baseline: "b", unit: Unit::Time, bar: Bar::None };
        let error = Row::new(&comparison, &BTreeMap::from([("a", vec![1.0])])).unwrap_err();
        assert_eq!(error.to_string(), "no round measured `b`");
    }
}
