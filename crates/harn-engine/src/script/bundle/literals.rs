//! Finds a kind of evidence that does not exist where it stands in the source as a literal, so that a slip of the pen is
//! known before an agent is paid, and not when the script gets there.
//!
//! Only what is certain is found: a string in the call `evidence({ kind: "…" })` itself. A kind that is computed, one that
//! stands in a comment, in a quoted text or in another object, and calls of a function that the module itself names
//! `evidence`, are left to the call.

use crate::script::EvidenceKind;

/// A kind that does not exist, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnknownKind {
    /// Line, counted from 1.
    pub(super) line: u32,
    /// What stands there.
    pub(super) kind: String,
}

/// The first literal kind of evidence in `source` that does not exist.
pub(super) fn unknown_kind(source: &str) -> Option<UnknownKind> {
    let tokens = Scanner::new(source).tokens();
    let declares = |pair: &[Token<'_>]| {
        matches!(
            pair,
            [
                Token { what: What::Word("function" | "const" | "let" | "var"), .. },
                Token { what: What::Word("evidence"), .. }
            ]
        )
    };
    if tokens.windows(2).any(declares) {
        return None;
    }
    (0..tokens.len()).find_map(|at| argument_of_call(&tokens, at).and_then(kind_of_object))
}

/// What follows `evidence({`, if a call of it begins at `at`.
fn argument_of_call<'t, 's>(tokens: &'t [Token<'s>], at: usize) -> Option<&'t [Token<'s>]> {
    let what = |at: usize| tokens.get(at).map(|token| token.what);
    let calls = what(at) == Some(What::Word("evidence"))
        && what(at + 1) == Some(What::Mark('('))
        && what(at + 2) == Some(What::Mark('{'));
    let of_something = at > 0 && what(at - 1) == Some(What::Mark('.'));
    let of_ctx = at > 1 && what(at - 2) == Some(What::Word("ctx"));
    (calls && (!of_something || of_ctx)).then(|| &tokens[at + 3..])
}

/// The literal `kind` of an object whose first token this is, if it does not exist.
fn kind_of_object(tokens: &[Token<'_>]) -> Option<UnknownKind> {
    let mut depth = 0_u32;
    let mut is_name = true;
    for (at, token) in tokens.iter().enumerate() {
        match token.what {
            What::Mark('{' | '[' | '(') => depth += 1,
            What::Mark('}' | ']' | ')') if depth == 0 => return None,
            What::Mark('}' | ']' | ')') => depth -= 1,
            What::Word("kind") | What::Text("kind") if depth == 0 && is_name => {
                if let [colon, value, after, ..] = &tokens[at + 1..]
                    && colon.what == What::Mark(':')
                    && matches!(after.what, What::Mark(',' | '}'))
                    && let What::Text(kind) = value.what
                    && EvidenceKind::WORDS.iter().all(|word| *word != kind)
                {
                    return Some(UnknownKind { line: value.line, kind: kind.to_owned() });
                }
            }
            _ => {}
        }
        is_name = depth == 0 && token.what == What::Mark(',');
    }
    None
}

/// A token, as far as it matters here.
#[derive(Debug, Clone, Copy)]
struct Token<'s> {
    what: What<'s>,
    line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What<'s> {
    /// A name or a keyword.
    Word(&'s str),
    /// A string without escapes.
    Text(&'s str),
    /// A number, a template, a pattern, or a string with escapes: a value of which nothing is known.
    Value,
    /// A character of its own.
    Mark(char),
}

struct Scanner<'s> {
    source: &'s str,
    at: usize,
    line: u32,
    tokens: Vec<Token<'s>>,
    /// For each open template, how many braces are open in its expression.
    templates: Vec<u32>,
}

impl<'s> Scanner<'s> {
    fn new(source: &'s str) -> Self {
        Self { source, at: 0, line: 1, tokens: Vec::new(), templates: Vec::new() }
    }

    fn tokens(mut self) -> Vec<Token<'s>> {
        while let Some(c) = self.peek() {
            match c {
                '/' if self.rest().starts_with("//") => self.skip_while(|c| c != '\n'),
                '/' if self.rest().starts_with("/*") => self.comment(),
                '/' if self.begins_a_pattern() => self.pattern(),
                '\'' | '"' => self.text(c),
                '`' => {
                    self.bump();
                    self.template();
                }
                '{' => self.brace(1),
                '}' if self.templates.last() == Some(&0) => {
                    self.templates.pop();
                    self.bump();
                    self.template();
                }
                '}' => self.brace(-1),
                c if c.is_whitespace() => drop(self.bump()),
                c if is_of_word(c) => self.word(),
                c => {
                    self.push(What::Mark(c));
                    self.bump();
                }
            }
        }
        self.tokens
    }

    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        self.line += u32::from(c == '\n');
        Some(c)
    }

    fn skip_while(&mut self, fits: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&fits) {
            self.bump();
        }
    }

    fn push(&mut self, what: What<'s>) {
        self.tokens.push(Token { what, line: self.line });
    }

    fn brace(&mut self, by: i32) {
        if let Some(open) = self.templates.last_mut() {
            *open = open.saturating_add_signed(by);
        }
        self.push(What::Mark(if by > 0 { '{' } else { '}' }));
        self.bump();
    }

    fn comment(&mut self) {
        self.bump();
        self.bump();
        while self.peek().is_some() && !self.rest().starts_with("*/") {
            self.bump();
        }
        self.bump();
        self.bump();
    }

    fn word(&mut self) {
        let from = self.at;
        self.skip_while(is_of_word);
        let word = &self.source[from..self.at];
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        self.push(if is_number { What::Value } else { What::Word(word) });
    }

    /// A string ends with its line at the latest.
    fn text(&mut self, quote: char) {
        self.bump();
        let from = self.at;
        let mut escapes = false;
        while let Some(c) = self.peek().filter(|c| *c != quote && *c != '\n') {
            escapes |= c == '\\';
            self.bump();
            if c == '\\' {
                self.bump();
            }
        }
        let text = &self.source[from..self.at];
        self.push(if escapes { What::Value } else { What::Text(text) });
        self.bump();
    }

    /// The text of a template, up to its end or to an expression in it.
    fn template(&mut self) {
        while let Some(c) = self.bump() {
            match c {
                '\\' => drop(self.bump()),
                '`' => return self.push(What::Value),
                '$' if self.peek() == Some('{') => {
                    self.bump();
                    self.templates.push(0);
                    return;
                }
                _ => {}
            }
        }
    }

    /// Whether a `/` begins a pattern: it divides only behind a value.
    fn begins_a_pattern(&self) -> bool {
        !matches!(
            self.tokens.last().map(|token| token.what),
            Some(What::Value | What::Text(_) | What::Mark(')' | ']' | '}'))
        ) && !matches!(self.tokens.last().map(|token| token.what), Some(What::Word(word)) if !is_operator(word))
    }

    fn pattern(&mut self) {
        self.bump();
        let mut in_class = false;
        while let Some(c) = self.peek().filter(|c| *c != '\n') {
            self.bump();
            match c {
                '\\' => drop(self.bump()),
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => break,
                _ => {}
            }
        }
        self.skip_while(is_of_word);
        self.push(What::Value);
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '#')
}

/// A keyword behind which a value begins.
fn is_operator(word: &str) -> bool {
    matches!(
        word,
        "return"
            | "typeof"
            | "case"
            | "in"
            | "of"
            | "new"
            | "delete"
            | "void"
            | "throw"
            | "await"
            | "yield"
            | "else"
            | "do"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(source: &str) -> Option<(u32, String)> {
        unknown_kind(source).map(|it| (it.line, it.kind))
    }

    #[test]
    fn k_95_a_literal_kind_that_does_not_exist() {
        for (source, line, kind) in [
            ("evidence({ kind: 'tests' })", 1, "tests"),
            ("await ctx.evidence({\n  status: 'passed',\n  kind: \"tset\",\n  label: 'x' });", 3, "tset"),
            ("evidence({ 'kind': '', label: `a ${ {a: 1}.a } b` })", 1, ""),
            ("evidence({ label: f({ kind: 'test' }), kind: 'nope' })", 1, "nope"),
            ("evidence({ kind: 'test' }); const a = 1 / 2; evidence({ kind: 'two' }) / 3", 1, "two"),
            ("// it's\n/* don't */ const re = /'[/]\"/g;\nevidence({kind: 'x'})", 3, "x"),
            ("const t = `\n${ `${1}` }\n`; evidence({kind: 'x'})", 3, "x"),
        ] {
            assert_eq!(found(source), Some((line, kind.to_owned())), "{source}");
        }
    }

    #[test]
    fn k_95_what_is_computed_quoted_or_elsewhere_is_left_to_the_call() {
        for source in [
            "evidence({ kind: 'test' })",
            "evidence({ kind: kinds.first, status: 'passed' })",
            "evidence({ kind: 'te' + 'st' })",
            "evidence({ kind: `tests` })",
            "evidence({ kind: '\\x74est' })",
            "// evidence({ kind: 'tests' })",
            "/* evidence({ kind: 'tests' }) */",
            "log(\"evidence({ kind: 'tests' })\")",
            "log(`evidence({ kind: 'tests' }) ${1}`)",
            "const re = /evidence({ kind: 'tests' })/;",
            "const other = { kind: 'tests' };",
            "evidence({ label: 'x', more: { kind: 'tests' } })",
            "evidence(record); agent({ kind: 'tests' })",
            "store.evidence({ kind: 'tests' })",
            "const evidence = (it) => it; evidence({ kind: 'tests' })",
            "evidence({ ...it, kind })",
            "evidence({ kind: 'x'",
        ] {
            assert_eq!(found(source), None, "{source}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_scanned_to_its_end(source in "(evidence|kind|[({:,})`'\"/\\\\$\n *]|é|x ){0,40}") {
            let lines = u32::try_from(source.lines().count()).unwrap().max(1);
            prop_assert!(unknown_kind(&source).is_none_or(|it| (1..=lines).contains(&it.line)));
        }
    }
}
