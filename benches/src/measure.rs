//! Measuring contestants in turn, so that what the machine does meanwhile falls on all of them alike.

use std::collections::BTreeMap;
use std::num::ParseIntError;
use std::time::{Duration, Instant};

use crate::row::{Comparison, Row};
use crate::setting::{Result, Setting};

/// What one round measured, by name: rates per second, times in seconds, sizes in bytes.
pub type Figures = BTreeMap<&'static str, f64>;

/// Rows that come out of the same rounds.
#[derive(Debug)]
pub struct Group {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// Measures every contestant once.
    pub round: fn(&Setting) -> Result<Figures>,
    /// What is compared with what.
    pub comparisons: &'static [Comparison],
}

/// Baselines that lie further apart than this, as a part of their median, make a group be measured again.
pub const CALM: f64 = 0.25;

impl Group {
    /// Measures the group, again if its baselines lie too far apart. The calmest rounds count.
    pub fn measure(&self, setting: &Setting) -> Result<Vec<Row>> {
        let mut calmest: Option<(f64, Vec<Row>)> = None;
        for _ in 0..=setting.repeats {
            let rows = self.rows(setting)?;
            let spread = rows.iter().map(Row::baseline_spread).fold(0.0, f64::max);
            if calmest.as_ref().is_none_or(|(least, _)| spread < *least) {
                calmest = Some((spread, rows));
            }
            if spread <= CALM {
                break;
            }
        }
        Ok(calmest.map(|(_, rows)| rows).unwrap_or_default())
    }

    fn rows(&self, setting: &Setting) -> Result<Vec<Row>> {
        let mut samples: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
        for _ in 0..setting.runs {
            for (name, figure) in (self.round)(setting)? {
                samples.entry(name).or_default().push(figure);
            }
        }
        self.comparisons.iter().map(|comparison| Row::new(comparison, &samples)).collect()
    }
}

/// The figures of a contestant, one a run.
#[derive(Debug, Clone)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// Of at least one figure.
    #[must_use]
    pub fn new(mut figures: Vec<f64>) -> Self {
        assert!(!figures.is_empty(), "a contestant is measured at least once");
        figures.sort_by(f64::total_cmp);
        Self(figures)
    }

    /// The one in the middle.
    #[must_use]
    pub fn median(&self) -> f64 {
        let middle = self.0.len() / 2;
        if self.0.len() % 2 == 1 { self.0[middle] } else { f64::midpoint(self.0[middle - 1], self.0[middle]) }
    }

    /// How far the least and the greatest lie apart, as a part of the median.
    #[must_use]
    pub fn spread(&self) -> f64 {
        (self.0[self.0.len() - 1] - self.0[0]) / self.median()
    }
}

/// The time below which this part of the times lies, in seconds.
#[must_use]
pub fn quantile(times: &mut [Duration], part: f64) -> f64 {
    times.sort_unstable();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a part of a length is an index"
    )]
    let index = (part * times.len() as f64) as usize;
    times[index.min(times.len() - 1)].as_secs_f64()
}

/// The middle one of the times, in seconds.
#[must_use]
pub fn median(times: &mut [Duration]) -> f64 {
    quantile(times, 0.5)
}

/// How much one contestant does: so many things, or fewer if the machine is slow. What is measured is a rate.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Budget {
    /// How many things at most.
    pub most: u64,
    /// When to stop; in milliseconds on a command line.
    #[arg(value_parser = milliseconds)]
    pub patience: Duration,
}

fn milliseconds(text: &str) -> std::result::Result<Duration, ParseIntError> {
    text.parse().map(Duration::from_millis)
}

impl Budget {
    /// Does `work` with 1, 2 and so on; returns how often.
    pub fn spend(self, mut work: impl FnMut(u64) -> Result<()>) -> Result<u64> {
        let start = Instant::now();
        for number in 1..=self.most {
            work(number)?;
            if start.elapsed() > self.patience {
                return Ok(number);
            }
        }
        Ok(self.most)
    }

    /// Does the same; returns how often in a second, and how often.
    pub fn rate(self, work: impl FnMut(u64) -> Result<()>) -> Result<(f64, u64)> {
        let start = Instant::now();
        let count = self.spend(work)?;
        Ok((exact(count) / start.elapsed().as_secs_f64(), count))
    }
}

/// How long the work takes, in seconds.
pub fn seconds(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

/// How many of `count` things the work does in a second.
pub fn rate(count: u64, work: impl FnOnce() -> Result<()>) -> Result<f64> {
    Ok(exact(count) / seconds(work)?)
}

/// A count as a number to calculate with.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "nothing here counts to 2^52")]
pub const fn exact(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle_and_the_spread_is_relative_to_it() {
        let odd = Samples::new(vec![5.0, 1.0, 4.0]);
        assert_eq!((odd.median(), odd.spread()), (4.0, 1.0));
        let even = Samples::new(vec![1.0, 3.0, 2.0, 4.0]);
        assert_eq!((even.median(), even.spread()), (2.5, 1.2));
    }

    #[test]
    fn a_budget_ends_with_the_things_or_with_the_patience() {
        let spend = |patience| Budget { most: 3, patience }.spend(|_| Ok(())).unwrap();
        assert_eq!((spend(Duration::from_secs(600)), spend(Duration::ZERO)), (3, 1));
    }

    #[test]
    fn a_quantile_is_one_of_the_times() {
        let mut times: Vec<Duration> = (1..=100).rev().map(Duration::from_secs).collect();
        for (part, expected) in [(0.0, 1), (0.5, 51), (0.99, 100), (1.0, 100)] {
            let found = Duration::from_secs_f64(quantile(&mut times, part));
            assert_eq!(found, Duration::from_secs(expected), "{part}");
        }
    }
}
