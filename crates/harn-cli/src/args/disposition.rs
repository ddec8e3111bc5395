//! `--dispose ID=fixed` and `--dispose ID=deferred:REASON`, where the reason needs no quotes.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// What is to be said of one finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispositionArg {
    /// The finding's id.
    pub finding: String,
    /// What became of it.
    pub outcome: OutcomeArg,
}

/// What became of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutcomeArg {
    /// It is fixed.
    Fixed,
    /// It is left for later; the reason may be empty here and is refused later, by the rule that owns it.
    Deferred(String),
}

/// All `--dispose` options of a command line.
///
/// The words after one option, up to the next option, are one disposition: so a deferral can be typed without quotes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DispositionArgs(pub Vec<DispositionArg>);

const NAME: &str = "dispose";

impl Args for DispositionArgs {
    fn augment_args(command: Command) -> Command {
        command.arg(
            Arg::new(NAME)
                .long(NAME)
                .value_name("ID=fixed|deferred:REASON")
                .num_args(1..)
                .action(ArgAction::Append)
                .help("Say what happened to an open finding; may be repeated")
                .long_help(
                    "Say what happened to an open finding; may be repeated.\n\nA deferral needs a reason: the words up \
                     to the next option, with or without quotes.",
                ),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for DispositionArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let occurrences = matches.get_occurrences::<String>(NAME).into_iter().flatten();
        occurrences
            .map(|words| parse(&words.cloned().collect::<Vec<_>>()))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Reads the words of one option.
fn parse(words: &[String]) -> Result<DispositionArg, clap::Error> {
    let text = words.join(" ");
    let usage = |what: &str| {
        let message = format!(
            "`--dispose {text}` {what}, expected `--dispose f1=fixed` or `--dispose f1=deferred:REASON`\n"
        );
        clap::Error::raw(ErrorKind::ValueValidation, message)
    };
    let (finding, outcome) = text.split_once('=').ok_or_else(|| usage("has no `=`"))?;
    let finding = finding.trim();
    if finding.is_empty() {
        return Err(usage("names no finding"));
    }
    let outcome = match outcome.trim().split_once(':') {
        None if outcome.trim() == "fixed" => OutcomeArg::Fixed,
        None if outcome.trim() == "deferred" => OutcomeArg::Deferred(String::new()),
        Some((word, reason)) if word.trim() == "deferred" => OutcomeArg::Deferred(reason.trim().to_owned()),
        _ if outcome.trim_start().starts_with("fixed") => return Err(usage("has words after `fixed`")),
        _ => return Err(usage("has neither `fixed` nor `deferred` after the `=`")),
    };
    Ok(DispositionArg { finding: finding.to_owned(), outcome })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(line: &str) -> Result<Vec<(String, OutcomeArg)>, clap::Error> {
        let command =
            DispositionArgs::augment_args(Command::new("accept").arg(Arg::new("id").required(true)))
                .arg(Arg::new("actor").long("actor"));
        let matches = command.try_get_matches_from(line.split(' '))?;
        let found = DispositionArgs::from_arg_matches(&matches)?.0;
        Ok(found.into_iter().map(|one| (one.finding, one.outcome)).collect())
    }

    #[test]
    fn the_seeds_examples_parse_as_written() {
        let deferred = |id: &str, reason: &str| (id.to_owned(), OutcomeArg::Deferred(reason.to_owned()));
        let fixed = |id: &str| (id.to_owned(), OutcomeArg::Fixed);
        let cases = [
            ("accept w --dispose f1=fixed", vec![fixed("f1")]),
            (
                "accept w --dispose f1=deferred:tracked separately, out of scope here",
                vec![deferred("f1", "tracked separately, out of scope here")],
            ),
            (
                "accept w --dispose f1=deferred:see f2=fixed: later --dispose f2=fixed --actor a",
                vec![deferred("f1", "see f2=fixed: later"), fixed("f2")],
            ),
            ("accept w --dispose f1=deferred", vec![deferred("f1", "")]),
            ("accept w --dispose f1=deferred:", vec![deferred("f1", "")]),
        ];
        for (line, expected) in cases {
            assert_eq!(matched(line).unwrap(), expected, "{line}");
        }
    }

    #[test]
    fn what_is_not_a_disposition_is_a_usage_error() {
        for line in [
            "accept w --dispose f1",
            "accept w --dispose =fixed",
            "accept w --dispose f1=done",
            "accept w --dispose f1=fixed because",
            "accept w --dispose f1=fixed:because",
            "accept w --dispose",
        ] {
            assert!(matched(line).is_err(), "{line}");
        }
    }
}
