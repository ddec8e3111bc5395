//! The result of a command: one JSON document or text, printed once at the end.

use std::io;

use serde_json::Value;

use crate::io::Io;

/// Collects what goes to standard output.
#[derive(Debug)]
pub(crate) struct Output {
    json: bool,
    text: String,
    document: Value,
}

impl Output {
    pub(crate) const fn new(json: bool) -> Self {
        Self { json, text: String::new(), document: Value::Null }
    }

    /// Adds text, which must be safe already.
    pub(crate) fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Sets the document. Every command sets one.
    pub(crate) fn document(&mut self, document: Value) {
        self.document = document;
    }

    pub(crate) fn print(self, io: &mut Io<'_>) -> io::Result<()> {
        let writer = &mut io.stdout.writer;
        if self.json {
            writeln!(writer, "{}", self.document)?;
        } else {
            writer.write_all(self.text.as_bytes())?;
        }
        writer.flush()
    }
}
