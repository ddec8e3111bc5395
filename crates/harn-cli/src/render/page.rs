//! A page of labelled lines and sections, as text grows.

use std::fmt::Write as _;

use crate::text::{Palette, paint, safe_block, safe_line, wrapped};

/// Text as it grows.
pub(super) struct Page {
    text: String,
    width: usize,
    palette: Palette,
}

impl Page {
    pub(super) const fn new(width: usize, palette: Palette) -> Self {
        Self { text: String::new(), width, palette }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// The first line: what this is.
    pub(super) fn title(&mut self, id: &str, title: &str) {
        self.text.push_str(&wrapped(&format!("{id}: {}", safe_line(title)), self.width, "", "  "));
    }

    /// A word of ours after a label, such as `state: ready`.
    pub(super) fn word(&mut self, label: &str, word: &str, style: anstyle::Style) {
        self.labelled(label, &paint(style, word));
    }

    /// A command line or an id after a label. It is never broken, so that it can be copied.
    pub(super) fn line(&mut self, label: &str, text: &str) {
        self.labelled(label, &safe_line(text));
    }

    fn labelled(&mut self, label: &str, text: &str) {
        // Writing to memory cannot fail.
        let _ = writeln!(self.text, "{} {text}", paint(self.palette.label, &format!("{label}:")));
    }

    /// A text from elsewhere after a label.
    pub(super) fn field(&mut self, label: &str, text: &str) {
        let label = format!("{label}:");
        let text = wrapped(&safe_block(text), self.width, &format!("{label} "), "  ");
        self.text.push_str(&text.replacen(&label, &paint(self.palette.label, &label), 1));
    }

    /// Begins a section.
    pub(super) fn section(&mut self, title: &str) {
        let _ = writeln!(self.text, "\n{}", paint(self.palette.label, &format!("{title}:")));
    }

    /// A text from elsewhere in a section, `mark` before its first line.
    pub(super) fn item(&mut self, mark: &str, text: &str) {
        let indent = " ".repeat(mark.len());
        self.text.push_str(&wrapped(&safe_block(text), self.width, mark, &indent));
    }

    /// Rows of a section that are laid out already.
    pub(super) fn rows(&mut self, rows: &str) {
        self.text.push_str(rows);
    }

    /// An id or a digest in a section. It is never broken, so that it can be copied.
    pub(super) fn token(&mut self, indent: &str, text: &str) {
        let _ = writeln!(self.text, "{indent}{}", safe_line(text));
    }
}
