//! Colours: never the only carrier of meaning, and empty when there are none.

use anstyle::{AnsiColor, Style};

/// The styles of the output.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Palette {
    /// `error:`
    pub(crate) error: Style,
    /// `hint:`, `warning:` and `note:`
    pub(crate) hint: Style,
    /// Headings and labels.
    pub(crate) label: Style,
    /// Good news.
    pub(crate) good: Style,
    /// What waits for somebody.
    pub(crate) waiting: Style,
}

impl Palette {
    /// The palette, empty unless `colored`.
    pub(crate) const fn new(colored: bool) -> Self {
        let plain = Style::new();
        if !colored {
            return Self { error: plain, hint: plain, label: plain, good: plain, waiting: plain };
        }
        Self {
            error: AnsiColor::Red.on_default().bold(),
            hint: AnsiColor::Cyan.on_default().bold(),
            label: plain.bold(),
            good: AnsiColor::Green.on_default(),
            waiting: AnsiColor::Yellow.on_default(),
        }
    }
}

/// `text` in `style`.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
