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
    exact: Option<Vec<u8>>,
    written: Option<io::Result<()>>,
}

impl Output {
    pub(crate) const fn new(json: bool) -> Self {
        Self { json, text: String::new(), document: Value::Null, exact: None, written: None }
    }

    /// Adds text, which must be safe already.
    pub(crate) fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Sets the document. Every command sets one.
    pub(crate) fn document(&mut self, document: Value) {
        self.document = document;
    }

    /// Sets a JSON document whose very bytes matter, with its line feed. It is printed with and without `--json`, and
    /// nothing else is.
    pub(crate) fn exactly(&mut self, document: Vec<u8>) {
        self.exact = Some(document);
    }

    /// Whether a document is printed, and no text.
    pub(crate) const fn is_document(&self) -> bool {
        self.json
    }

    /// The command has written its own output, because there may be too much of it to be held. Nothing more is printed.
    pub(crate) fn written(&mut self, result: io::Result<()>) {
        self.written = Some(result);
    }

    pub(crate) fn print(self, io: &mut Io<'_>) -> io::Result<()> {
        let writer = &mut io.stdout.writer;
        if let Some(written) = self.written {
            return written.and_then(|()| writer.flush());
        }
        if let Some(document) = self.exact {
            writer.write_all(&document)?;
        } else if self.json {
            writeln!(writer, "{}", self.document)?;
        } else {
            writer.write_all(self.text.as_bytes())?;
        }
        writer.flush()
    }
}
