//! Reading, compiling and freezing workflows.

use std::fs;
use std::path::Path;

use harn_engine::script::{Bundle, LoadError, MAX_FILE_BYTES, MAX_FILES, Options, ScriptEnd, run};
use serde_json::json;
use tempfile::TempDir;

use crate::script_fake::{Fake, START_MS, contexts, returned};

const MAIN: &str = "export default () => 1";

/// Names and texts.
type Files<'a> = &'a [(&'a str, &'a str)];

/// A directory with these files.
fn directory(files: Files<'_>) -> TempDir {
    let directory = TempDir::new().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

/// The error of reading `a.mjs` among these files, with the directory written as `DIR`.
fn refusal(files: Files<'_>) -> (LoadError, String) {
    let directory = directory(files);
    let error = Bundle::read(&directory.path().join("a.mjs")).unwrap_err();
    let message = error.to_string().replace(directory.path().to_str().unwrap(), "DIR");
    (error, message)
}

#[test]
fn a_bundle_holds_every_imported_module_once_with_path_bytes_and_digest() {
    let files = [
        ("a.mjs", "import {b} from './lib/b.mjs'; import './c.js'; export default () => b"),
        ("lib/b.mjs", "import '../c.js'; import '../a.mjs'; export const b = 'from b'"),
        ("c.js", "export {}"),
        ("unused.mjs", "this is not JavaScript"),
    ];
    let directory = directory(&files);
    let read = Bundle::read(&directory.path().join("lib/../a.mjs")).unwrap();
    let root = directory.path().to_str().unwrap();
    let paths: Vec<_> = read.modules().iter().map(|module| module.path().replace(root, "DIR")).collect();
    assert_eq!(paths, ["DIR/a.mjs", "DIR/lib/b.mjs", "DIR/c.js"]);
    let last = &read.modules()[2];
    assert_eq!(last.bytes(), b"export {}");
    assert_eq!(last.sha256(), "f4c5cf9bb78e85f15dc27180260637cf24b2a24bc39e0788783a3accc4dde614");

    let stored: Vec<_> =
        read.modules().iter().map(|module| (module.path().to_owned(), module.bytes().to_vec())).collect();
    let entry = read.entry().path().to_owned();
    drop(directory);
    let frozen = Bundle::frozen(&entry, stored).unwrap();
    assert_eq!(frozen, read);
    let end = run(&frozen, &contexts(), &Options::new(START_MS, 7), &mut Fake::with(&[])).unwrap();
    assert_eq!(end, returned(&json!("from b")));
}

#[test]
fn a_relative_path_is_read_from_the_working_directory() {
    let error = Bundle::read(Path::new("no/such/../file.mjs")).unwrap_err();
    let expected = std::env::current_dir().unwrap().join("no/file.mjs");
    assert_eq!(error.to_string(), format!("`{}` does not exist", expected.display()));
}

/// K-15: no line of a module is evaluated by reading it.
#[test]
fn k_15_reading_evaluates_nothing() {
    let tops = [
        "throw new Error('top');",
        "for (;;) {}",
        "await new Promise(() => {});",
        "undefined_name();",
        "export const meta = {name: 5};",
        "const all = []; for (;;) all.push({});",
        "const f = () => f(); f();",
    ];
    for top in tops {
        let directory = directory(&[("a.mjs", &format!("import './b.mjs'; {top} {MAIN}")), ("b.mjs", top)]);
        let bundle = Bundle::read(&directory.path().join("a.mjs")).unwrap();
        assert_eq!(bundle.modules().len(), 2, "{top}");
    }
}

#[test]
fn what_cannot_be_loaded_is_refused_with_its_reason() {
    let cases: &[(&str, Files<'_>, &str)] = &[
        ("script_not_found", &[], "`DIR/a.mjs` does not exist"),
        (
            "script_not_found",
            &[("a.mjs", "import './lib/b.mjs';"), ("lib/b.mjs", "import './c.mjs';")],
            "`DIR/lib/c.mjs` does not exist, imported by `DIR/lib/b.mjs`",
        ),
        (
            "script_import_not_relative",
            &[("a.mjs", "import fs from 'fs';")],
            "`DIR/a.mjs` imports `fs`: expected a relative path such as `./plan.mjs`",
        ),
        (
            "script_import_not_relative",
            &[("a.mjs", "export * from '/etc/x.mjs';")],
            "`DIR/a.mjs` imports `/etc/x.mjs`: expected a relative path such as `./plan.mjs`",
        ),
        (
            "script_import_not_relative",
            &[("a.mjs", "import 'https://example.org/x.mjs';")],
            "`DIR/a.mjs` imports `https://example.org/x.mjs`: expected a relative path such as `./plan.mjs`",
        ),
        (
            "script_import_not_relative",
            &[("a.mjs", "import 'harn:guard';")],
            "`DIR/a.mjs` imports `harn:guard`: expected a relative path such as `./plan.mjs`",
        ),
        (
            "script_import_attributes",
            &[("a.mjs", "import x from './x.json' with {type: 'json'};")],
            "`DIR/a.mjs` imports `./x.json` with attributes: expected a plain import of a module",
        ),
        (
            "script_extension",
            &[("a.mjs", "import './b.ts';"), ("b.ts", "")],
            "`DIR/b.ts` is not a JavaScript module: expected a name that ends in `.mjs` or `.js`",
        ),
        (
            "script_syntax",
            &[("a.mjs", "export default () => {\n  let x = ;\n}")],
            "unexpected token in expression: ';' at `DIR/a.mjs:2:11`",
        ),
        (
            "script_syntax",
            &[("a.mjs", "import './b.mjs';\nexport default 1"), ("b.mjs", "let a;\nlet a;")],
            "invalid redefinition of global identifier at `DIR/b.mjs:2:6`",
        ),
        (
            "script_link",
            &[("a.mjs", "import {x} from './b.mjs'; export default 1"), ("b.mjs", "export const y = 1")],
            "the modules do not fit together: Could not find export 'x' in module 'DIR/b.mjs'",
        ),
        (
            "script_no_default_export",
            &[("a.mjs", "export const meta = {}; export async function main() {}")],
            "`DIR/a.mjs` has no default export: expected `export default async (ctx) => …`",
        ),
        (
            "script_no_default_export",
            &[("a.mjs", "export * from './b.mjs'"), ("b.mjs", MAIN)],
            "`DIR/a.mjs` has no default export: expected `export default async (ctx) => …`",
        ),
        (
            "script_not_text",
            &[("a.mjs", "\n\nlet a = '\0';")],
            "`DIR/a.mjs` is not text: line 3 has bytes that are not UTF-8, or a NUL character",
        ),
    ];
    for (code, files, message) in cases {
        let (error, found) = refusal(files);
        assert_eq!((error.code(), found.as_str()), (*code, *message), "{files:?}");
    }
}

#[test]
fn a_default_export_may_be_reexported() {
    let directory = directory(&[("a.mjs", "export {default} from './b.mjs'"), ("b.mjs", MAIN)]);
    Bundle::read(&directory.path().join("a.mjs")).unwrap();
}

#[test]
fn files_that_are_not_text_or_no_files_are_refused() {
    let directory = directory(&[]);
    let path = directory.path().join("a.mjs");
    fs::write(&path, b"let a;\nlet b = '\xff';").unwrap();
    assert!(matches!(Bundle::read(&path).unwrap_err(), LoadError::NotText { line: 2, .. }));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(Bundle::read(&path).unwrap_err().code(), "script_not_a_file");
}

#[test]
fn a_byte_order_mark_and_a_hash_bang_are_accepted() {
    for prefix in ["\u{feff}", "#!/usr/bin/env harn\n"] {
        let directory = directory(&[("a.mjs", &format!("{prefix}{MAIN}"))]);
        let bundle = Bundle::read(&directory.path().join("a.mjs")).unwrap();
        let end = run(&bundle, &contexts(), &Options::new(START_MS, 7), &mut Fake::with(&[])).unwrap();
        assert_eq!(end, returned(&json!(1)));
    }
}

#[test]
fn the_size_of_a_file_is_limited() {
    let limit = usize::try_from(MAX_FILE_BYTES).unwrap();
    let padded = |size: usize| format!("{MAIN}{}", " ".repeat(size - MAIN.len()));
    let fits = directory(&[("a.mjs", &padded(limit))]);
    assert!(Bundle::read(&fits.path().join("a.mjs")).is_ok());
    let (error, message) = refusal(&[("a.mjs", &padded(limit + 1))]);
    assert_eq!(
        (error.code(), message.as_str()),
        ("script_too_large", "`DIR/a.mjs` is larger than 1048576 bytes")
    );
}

#[test]
fn the_number_of_files_is_limited() {
    let chain = |count: usize| -> Vec<(String, Vec<u8>)> {
        let name = |at: usize| if at == 0 { "/w/a.mjs".to_owned() } else { format!("/w/{at}.mjs") };
        let text = |at: usize| match at + 1 {
            next if next == count => MAIN.to_owned(),
            next => format!("import './{next}.mjs'; {MAIN}"),
        };
        (0..count).map(|at| (name(at), text(at).into_bytes())).collect()
    };
    assert_eq!(Bundle::frozen("/w/a.mjs", chain(MAX_FILES)).unwrap().modules().len(), MAX_FILES);
    let error = Bundle::frozen("/w/a.mjs", chain(MAX_FILES + 1)).unwrap_err();
    assert_eq!(error.to_string(), "the workflow has more than 64 files, `/w/64.mjs` is one too many");
}

#[test]
fn deep_nesting_is_a_syntax_error_and_no_crash() {
    let deep = format!("export default () => {}{}", "(".repeat(500_000), ")".repeat(500_000));
    let (error, _) = refusal(&[("a.mjs", &deep)]);
    assert_eq!(error.code(), "script_syntax");
}

#[test]
fn stored_modules_must_be_complete() {
    let modules = vec![("/w/a.mjs".to_owned(), b"import './b.mjs'; export default () => 1".to_vec())];
    let error = Bundle::frozen("/w/a.mjs", modules).unwrap_err();
    assert_eq!(error.to_string(), "`/w/b.mjs` does not exist, imported by `/w/a.mjs`");
    let error = Bundle::frozen("/w/a.mjs", Vec::new()).unwrap_err();
    assert_eq!((error.code(), error.hint().is_some()), ("script_not_found", true));
}

#[test]
fn a_module_is_evaluated_once_however_often_it_is_imported() {
    let modules = vec![
        (
            "/w/a.mjs".to_owned(),
            b"import {n} from './b.mjs'; import './c.mjs'; export default () => n.count".to_vec(),
        ),
        ("/w/b.mjs".to_owned(), b"export const n = {count: 0}; n.count += 1".to_vec()),
        ("/w/c.mjs".to_owned(), b"import {n} from './b.mjs'; n.count += 10".to_vec()),
    ];
    let bundle = Bundle::frozen("/w/a.mjs", modules).unwrap();
    let end = run(&bundle, &contexts(), &Options::new(START_MS, 7), &mut Fake::with(&[])).unwrap();
    assert_eq!(end, ScriptEnd::Returned { result: Some("11".to_owned()) });
}
