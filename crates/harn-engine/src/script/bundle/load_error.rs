//! Why a workflow could not be read or compiled.

use std::io;

/// Why a workflow could not be read or compiled. Paths are absolute.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The path of the workflow cannot be made absolute, or is not UTF-8.
    #[error("`{path}` cannot be used as the path of a workflow: {reason}")]
    Path {
        /// The path as given, lossily.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file name that does not end in `.mjs` or `.js`.
    #[error("`{file}` is not a JavaScript module: expected a name that ends in `.mjs` or `.js`")]
    Extension {
        /// The file.
        file: String,
    },
    /// A file that does not exist, or that is not among the stored modules.
    #[error("`{file}` does not exist{}", imported_by(importer.as_ref()))]
    NotFound {
        /// The file.
        file: String,
        /// The module that imports it; absent for the workflow itself.
        importer: Option<String>,
    },
    /// Something at this path is not a regular file.
    #[error("`{file}` is not a regular file")]
    NotAFile {
        /// The path.
        file: String,
    },
    /// The file could not be read.
    #[error("`{file}` cannot be read")]
    Read {
        /// The file.
        file: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file is larger than [`MAX_FILE_BYTES`](super::MAX_FILE_BYTES).
    #[error("`{file}` is larger than {limit} bytes")]
    TooLarge {
        /// The file.
        file: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// The workflow imports more files than [`MAX_FILES`](super::MAX_FILES).
    #[error("the workflow has more than {limit} files, `{file}` is one too many")]
    TooManyFiles {
        /// The file that went over the limit.
        file: String,
        /// The limit, the workflow itself included.
        limit: usize,
    },
    /// The file is not UTF-8 text, or contains a NUL character.
    #[error("`{file}` is not text: line {line} has bytes that are not UTF-8, or a NUL character")]
    NotText {
        /// The file.
        file: String,
        /// The one-based line of the first such byte.
        line: usize,
    },
    /// An import that is not a relative path: a bare name, an absolute path or a URL.
    #[error("`{importer}` imports `{specifier}`: expected a relative path such as `./plan.mjs`")]
    NotRelative {
        /// The importing module.
        importer: String,
        /// The import as written.
        specifier: String,
    },
    /// An import with attributes, such as `with { type: "json" }`.
    #[error("`{importer}` imports `{specifier}` with attributes: expected a plain import of a module")]
    Attributes {
        /// The importing module.
        importer: String,
        /// The import as written.
        specifier: String,
    },
    /// A syntax error.
    #[error("{message}{}", at(file.as_ref(), *line, *column))]
    Syntax {
        /// The module with the error, when the engine says which.
        file: Option<String>,
        /// One-based line, when known.
        line: Option<u32>,
        /// One-based column, when known.
        column: Option<u32>,
        /// What the engine says.
        message: String,
    },
    /// An import of a name that the other module does not export, or a similar fault between modules.
    #[error("the modules do not fit together: {message}")]
    Link {
        /// What the engine says; it names the module.
        message: String,
    },
    /// The workflow has no default export.
    #[error("`{file}` has no default export: expected `export default async (ctx) => …`")]
    NoDefaultExport {
        /// The workflow.
        file: String,
    },
    /// A kind of evidence that does not exist.
    #[error("`{file}`, line {line}: `{}` is not a kind of evidence, expected one of: {}", kind.escape_debug(), expected.join(", "))]
    EvidenceKind {
        /// The module.
        file: String,
        /// One-based line.
        line: u32,
        /// What stands there.
        kind: String,
        /// The kinds that there are.
        expected: &'static [&'static str],
    },
    /// The engine could not be started or ran out of memory.
    #[error("the JavaScript engine failed: {message}")]
    Engine {
        /// What went wrong.
        message: String,
    },
}

impl LoadError {
    /// A stable name for this error, in `snake_case`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Path { .. } => "script_path_invalid",
            Self::Extension { .. } => "script_extension",
            Self::NotFound { .. } => "script_not_found",
            Self::NotAFile { .. } => "script_not_a_file",
            Self::Read { .. } => "script_unreadable",
            Self::TooLarge { .. } => "script_too_large",
            Self::TooManyFiles { .. } => "script_too_many_files",
            Self::NotText { .. } => "script_not_text",
            Self::NotRelative { .. } => "script_import_not_relative",
            Self::Attributes { .. } => "script_import_attributes",
            Self::Syntax { .. } => "script_syntax",
            Self::Link { .. } => "script_link",
            Self::NoDefaultExport { .. } => "script_no_default_export",
            Self::EvidenceKind { .. } => "script_evidence_kind",
            Self::Engine { .. } => "script_engine",
        }
    }

    /// What to do about it, when there is something to say.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Path { .. } => "give a path of plain UTF-8 text",
            Self::Extension { .. } => "rename the file, or import a module that exports the data",
            Self::NotFound { importer: Some(_), .. } => {
                "imports need the full file name with its extension, relative to the importing file"
            }
            Self::NotFound { importer: None, .. } => "check the path of the workflow",
            Self::TooLarge { .. } | Self::TooManyFiles { .. } => {
                "keep data out of the workflow; let an agent or a check read it"
            }
            Self::NotText { .. } => "save the file as UTF-8",
            Self::NotRelative { specifier, .. } => {
                if specifier.contains("://") || specifier.starts_with('/') {
                    "copy the module next to the workflow and import it by relative path"
                } else {
                    "a workflow has no packages and no Node modules; use `ctx.agent` and `ctx.check` for outside work"
                }
            }
            Self::Attributes { .. } => "export the data from a `.mjs` file",
            Self::NoDefaultExport { .. } => "export the function that does the work as the default export",
            Self::Link { .. } => "check the names in the import and export statements",
            Self::NotAFile { .. }
            | Self::Read { .. }
            | Self::Syntax { .. }
            | Self::EvidenceKind { .. }
            | Self::Engine { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

fn imported_by(importer: Option<&String>) -> String {
    importer.map_or_else(String::new, |importer| format!(", imported by `{importer}`"))
}

fn at(file: Option<&String>, line: Option<u32>, column: Option<u32>) -> String {
    match (file, line, column) {
        (Some(file), Some(line), Some(column)) => format!(" at `{file}:{line}:{column}`"),
        (Some(file), ..) => format!(" in `{file}`"),
        (None, ..) => String::new(),
    }
}
