//! How scripts end: results, throws, stalls, limits.

use harn_engine::script::{Bundle, InputError, ModuleError, Options, ScriptEnd, run};
use serde_json::json;

use crate::script_fake::{Fake, START_MS, bundle, contexts, message_of, play, play_body, returned, value_of};

fn threw(message: Option<&str>) -> ScriptEnd {
    ScriptEnd::Threw { message: message.map(ToOwned::to_owned), stack: None }
}

fn without_stack(end: ScriptEnd) -> ScriptEnd {
    match end {
        ScriptEnd::Threw { message, .. } => ScriptEnd::Threw { message, stack: None },
        other => other,
    }
}

#[test]
fn results_are_json() {
    let cases = [
        ("return 5", Some("5")),
        ("return 'é'", Some("\"é\"")),
        ("return {a: [1, null, undefined], b: undefined}", Some("{\"a\":[1,null,null]}")),
        ("return NaN", Some("null")),
        ("return 'cut \\ud83d'", Some("\"cut \\ufffd\"")),
        ("return {'\\udc00': '\\\\ud83d \\u{1F600}'}", Some("{\"\\ufffd\":\"\\\\ud83d 😀\"}")),
        ("return {toJSON: () => 'own'}", Some("\"own\"")),
        ("", None),
        ("return undefined", None),
        ("return () => 1", None),
        ("return Symbol('s')", None),
    ];
    for (body, expected) in cases {
        let expected = ScriptEnd::Returned { result: expected.map(ToOwned::to_owned) };
        assert_eq!(play_body(body, &[]).0, expected, "{body}");
    }
}

#[test]
fn a_default_export_need_not_be_async() {
    assert_eq!(play("export default () => 3", &mut Fake::with(&[])), returned(&json!(3)));
    assert_eq!(
        play("export default function (ctx) { return typeof ctx }", &mut Fake::with(&[])),
        returned(&json!("object"))
    );
    let end = play("export default () => { throw new Error('sync') }", &mut Fake::with(&[]));
    assert_eq!(without_stack(end), threw(Some("sync")));
}

/// N-18, W-39.
#[test]
fn n_18_results_that_cannot_be_serialised_still_end_the_run() {
    let cases = [
        ("const o = {}; o.o = o; return o", "TypeError: circular reference"),
        ("return {n: 10n}", "TypeError: BigInt are forbidden in JSON.stringify"),
        ("return {toJSON() { throw new Error('mine') }}", "mine"),
        ("return {get x() { throw 'text' }}", "text"),
    ];
    for (body, message) in cases {
        let expected = ScriptEnd::UnserialisableResult { message: Some(message.to_owned()) };
        assert_eq!(play_body(body, &[]).0, expected, "{body}");
    }
    let blank = play_body("return {toJSON() { throw new Error('') }}", &[]).0;
    assert_eq!(blank, ScriptEnd::UnserialisableResult { message: None });
}

/// N-17, N-18, W-24: blank messages count as absent, and everything that can be thrown ends the run.
#[test]
fn n_17_n_18_everything_that_can_be_thrown_ends_the_run() {
    let cases = [
        ("throw new Error('boom')", Some("boom")),
        ("throw new TypeError('boom')", Some("TypeError: boom")),
        ("throw new Error('')", None),
        ("throw new TypeError('  ')", None),
        ("throw new Error()", None),
        ("throw 'text'", Some("text")),
        ("throw ' '", None),
        ("throw null", None),
        ("throw undefined", None),
        ("throw 42", Some("42")),
        ("throw 10n", Some("10")),
        ("throw false", Some("false")),
        ("throw Symbol('s')", Some("a symbol")),
        ("throw () => 1", Some("a function")),
        ("throw {message: 'like an error'}", Some("like an error")),
        ("throw {code: 5}", Some("{\"code\":5}")),
        ("throw {get message() { throw 1 }}", Some("an object")),
        ("throw {message: 3}", Some("{\"message\":3}")),
        ("const e = new Error('x'); Object.defineProperty(e, 'message', {get() { throw e }}); throw e", None),
        ("const e = new Error('x'); e.name = 5; throw e", Some("x")),
        ("throw Object.freeze(new Error('frozen'))", Some("frozen")),
        ("await Promise.reject(new Error('rejected'))", Some("rejected")),
        ("throw new Error('half \\ud83d')", Some("half \u{fffd}")),
        ("undefined_name", Some("ReferenceError: undefined_name is not defined")),
    ];
    for (body, message) in cases {
        assert_eq!(without_stack(play_body(body, &[]).0), threw(message), "{body}");
    }
}

#[test]
fn an_error_says_where_it_was_thrown() {
    let source = "export default async (ctx) => {\n  const fail = () => {\n    throw new Error('here');\n  };\n  fail();\n}";
    let ScriptEnd::Threw { stack: Some(stack), .. } = play(source, &mut Fake::with(&[])) else {
        panic!("no stack")
    };
    let lines: Vec<&str> = stack.lines().collect();
    assert!(lines[0].starts_with("at fail (/w/flow.mjs:3:"), "{stack}");
    assert!(lines[1].contains("(/w/flow.mjs:5:"), "{stack}");
    assert!(!stack.contains("harn:"), "{stack}");
}

#[test]
fn a_refused_call_and_a_failed_agent_point_to_the_call() {
    for body in ["\nawait ctx.agent('')", "\nawait ctx.agent('p', {adapter: 'nobody'})", "\nctx.stage('')"] {
        let (end, _) = play_body(body, &[]);
        let ScriptEnd::Threw { stack: Some(stack), .. } = end else { panic!("{body}: {end:?}") };
        assert!(stack.contains("(/w/flow.mjs:2:"), "{body}: {stack}");
    }
    let (end, _) = play_body("\nawait ctx.agent('p')", &[crate::script_fake::Answer::Failed(1, "no reply")]);
    let ScriptEnd::Threw { message, stack: Some(stack) } = end else { panic!("{end:?}") };
    assert_eq!(message.as_deref(), Some("no reply"));
    assert!(stack.contains("(/w/flow.mjs:2:"), "{stack}");
}

/// K-15: reading is fine, only the run fails, with the message.
#[test]
fn k_15_a_throw_at_import_time_is_an_end_of_the_run() {
    let mut fake = Fake::with(&[]);
    let end = play("throw new Error('at import'); export default () => 1", &mut fake);
    assert_eq!(without_stack(end), threw(Some("at import")));
    assert!(fake.seen.is_empty());

    let modules = vec![
        ("/w/a.mjs".to_owned(), b"import './b.mjs'; export default () => 1".to_vec()),
        ("/w/b.mjs".to_owned(), b"throw new Error('in b')".to_vec()),
    ];
    let bundle = Bundle::frozen("/w/a.mjs", modules).unwrap();
    let end = run(&bundle, &contexts(), &Options::new(START_MS, 7), &mut fake).unwrap();
    assert_eq!(without_stack(end), threw(Some("in b")));
}

#[test]
fn a_promise_that_nothing_can_settle_is_a_stall() {
    let bodies = [
        "await new Promise(() => {})",
        "await ctx.agent('p'); await new Promise(() => {})",
        "ctx.agent('p').then(() => {}); await new Promise(() => {})",
    ];
    for body in bodies {
        assert_eq!(play_body(body, &[]).0, ScriptEnd::Stalled, "{body}");
    }
    let top_level = "await new Promise(() => {}); export default () => 1";
    assert_eq!(play(top_level, &mut Fake::with(&[])), ScriptEnd::Stalled);
    let settled = "const x = await Promise.resolve(4); export default () => x";
    assert_eq!(play(settled, &mut Fake::with(&[])), returned(&json!(4)));
}

#[test]
fn a_script_may_return_while_calls_are_outstanding() {
    let (end, seen) = play_body("ctx.agent('p'); return 1", &[]);
    assert_eq!((end, seen), (returned(&json!(1)), vec!["agent p".to_owned()]));
}

#[test]
fn exhausted_memory_ends_the_run_also_when_it_is_caught() {
    let fillers = [
        "const all = []; for (;;) all.push({});",
        "const all = []; for (;;) all.push('x'.repeat(1000) + all.length);",
        "let f; for (;;) { const g = f; f = () => g; }",
        "const all = new Map(); for (let i = 0; ; i += 1) all.set(i, i);",
        "new ArrayBuffer(1 << 30);",
        "JSON.parse('[' + '1,'.repeat(1 << 22) + '1]');",
    ];
    let mut options = Options::new(START_MS, 7);
    options.memory_limit = 24 * 1024 * 1024;
    for filler in fillers {
        let bodies = [
            filler.to_owned(),
            format!("try {{ {filler} }} catch (error) {{ }} ctx.log('went on'); return 1"),
            format!("try {{ {filler} }} finally {{ return 2 }}"),
            format!("await ctx.parallel([async () => {{ {filler} }}]); return 3"),
            format!("const f = async () => {{ {filler} }}; await f().catch(() => {{}}); return 4"),
            format!(
                "const f = async () => {{ throw new Error('x') }}; f().catch(() => {{}}); try {{ {filler} }} catch {{}} return 5"
            ),
        ];
        for body in bodies {
            let mut fake = Fake::with(&[]);
            let source = format!("export default async (ctx) => {{ {body} }}");
            let end = run(&bundle(&source), &contexts(), &options, &mut fake).unwrap();
            assert_eq!(end, ScriptEnd::OutOfMemory, "{body}");
            assert_eq!(fake.seen, ["loaded flow"], "{body}");
        }
        let mut fake = Fake::with(&[]);
        let source = format!("try {{ {filler} }} catch {{ }} export default () => 1");
        let end = run(&bundle(&source), &contexts(), &options, &mut fake).unwrap();
        assert_eq!(end, ScriptEnd::OutOfMemory, "{source}");
    }
    let enough = "const all = []; for (let i = 0; i < 1000; i += 1) all.push({}); return all.length";
    assert_eq!(value_of(enough), json!(1000));
}

/// The allocation that fails is then one of the engine's own, between two lines of the script.
#[test]
fn memory_that_ends_inside_promise_code_is_noticed() {
    let body = "let keep = []; for (let n = 0; ; n += 1) { if (n % 16 === 0) keep = [keep, new Uint8Array(9_000)]; await n }";
    let caught = format!("const f = async () => {{ {body} }}; try {{ await f() }} catch {{}} return 1");
    for step in 0..6 {
        let mut options = Options::new(START_MS, 7);
        options.memory_limit = 4 * 1024 * 1024 + step * 1_061;
        for body in [body, &caught] {
            let source = format!("export default async (ctx) => {{ {body} }}");
            let end = run(&bundle(&source), &contexts(), &options, &mut Fake::with(&[])).unwrap();
            assert_eq!(end, ScriptEnd::OutOfMemory, "{step}: {body}");
        }
    }
}

#[test]
fn a_completion_that_does_not_fit_into_memory_ends_the_run() {
    let mut options = Options::new(START_MS, 7);
    options.memory_limit = 0;
    let big = json!("x".repeat(16 * 1024 * 1024));
    let mut fake = Fake::with(&[crate::script_fake::Answer::Done(1, big)]);
    let source = "export default async ({agent}) => { try { await agent('p') } catch {} return 1 }";
    assert_eq!(run(&bundle(source), &contexts(), &options, &mut fake).unwrap(), ScriptEnd::OutOfMemory);
}

#[test]
fn a_stack_overflow_ends_the_run_also_when_it_is_caught() {
    let overflows = [
        "const f = () => f(); f();",
        "const f = () => [1].map(f); f();",
        "const f = () => [2, 1].sort(f); f();",
        "const o = {get x() { return this.x }}; o.x;",
        "let o = []; for (let i = 0; i < 1e5; i += 1) o = [o]; JSON.stringify(o);",
        "JSON.parse('['.repeat(1e6));",
        "eval('('.repeat(1e6));",
        "const f = async () => { await f() }; await f();",
        "new (class A { constructor() { new A() } })();",
    ];
    for overflow in overflows {
        let bodies = [
            overflow.to_owned(),
            format!("try {{ {overflow} }} catch (error) {{ }} ctx.log('went on'); return 1"),
            format!("await ctx.parallel([async () => {{ {overflow} }}]); return 3"),
        ];
        for body in bodies {
            let (end, seen) = play_body(&body, &[]);
            assert_eq!(end, ScriptEnd::StackOverflow, "{body}");
            assert!(seen.is_empty(), "{body}: {seen:?}");
        }
    }
    let deep_result = "let o = []; for (let i = 0; i < 1e5; i += 1) o = [o]; return o";
    assert_eq!(play_body(deep_result, &[]).0, ScriptEnd::StackOverflow);
    let deep_enough = "const f = (n) => n === 0 ? 0 : 1 + f(n - 1); return f(400)";
    assert_eq!(value_of(deep_enough), json!(400));
}

#[test]
fn limits_outside_their_range_are_moved_into_it() {
    for (memory_limit, stack_limit) in [(0, 0), (1, 1), (usize::MAX, usize::MAX)] {
        let mut options = Options::new(START_MS, 7);
        (options.memory_limit, options.stack_limit) = (memory_limit, stack_limit);
        let overflow = "export default () => { const f = () => f(); try { f() } catch {} }";
        let end = run(&bundle(overflow), &contexts(), &options, &mut Fake::with(&[])).unwrap();
        assert_eq!(end, ScriptEnd::StackOverflow);
        let plain = bundle("export default () => 1");
        let end = run(&plain, &contexts(), &options, &mut Fake::with(&[])).unwrap();
        assert_eq!(end, returned(&json!(1)));
    }
}

#[test]
fn a_default_export_that_is_no_function_is_unusable() {
    for (export, found) in
        [("5", "a number"), ("null", "`null`"), ("{}", "an object"), ("undefined", "nothing")]
    {
        let mut fake = Fake::with(&[]);
        let error = ModuleError::DefaultNotAFunction { found: found.to_owned() };
        assert_eq!(error.code(), "script_default_not_a_function");
        let end = play(&format!("export default {export}"), &mut fake);
        assert_eq!(end, ScriptEnd::Unusable { error }, "{export}");
        assert!(fake.seen.is_empty());
    }
}

#[test]
fn meta_is_trimmed_and_given_to_the_host() {
    let cases = [
        ("", "flow"),
        ("export const meta = undefined;", "flow"),
        ("export const meta = {};", "flow"),
        (
            "export const meta = {name: '  Deploy  ', description: 'd', objective: ' o ', acceptance: []};",
            "Deploy",
        ),
        ("export const meta = {name: 'é'.repeat(200)};", &"é".repeat(200)),
        ("export const meta = {name: '😀'.repeat(200)};", &"😀".repeat(200)),
    ];
    for (export, name) in cases {
        let mut fake = Fake::with(&[]);
        play(&format!("{export} export default () => 1"), &mut fake);
        assert_eq!(fake.seen, [format!("loaded {name}")], "{export}");
    }
}

/// Parts of K-90: the criteria of a workflow.
#[test]
fn a_bad_meta_is_unusable_and_the_host_is_not_told_of_a_load() {
    let cases = [
        ("5", "meta must be an object, found a number"),
        ("[]", "meta must be an object, found an array"),
        (
            "{title: 'x'}",
            "meta has no `title`: expected only `name`, `description`, `objective`, `acceptance`",
        ),
        ("{name: ' '}", "meta: `name` must be text, found blank text"),
        ("{name: 7}", "meta: `name` must be text, found a number"),
        ("{name: null}", "meta: `name` must be text, found `null`"),
        ("{name: 'x'.repeat(201)}", "meta: `name` has 201 characters, at most 200 are allowed"),
        ("{objective: 'x'.repeat(2001)}", "meta: `objective` has 2001 characters, at most 2000 are allowed"),
        (
            "{description: 'x'.repeat(2001)}",
            "meta: `description` has 2001 characters, at most 2000 are allowed",
        ),
        ("{acceptance: {}}", "meta: `acceptance` must be an array, found an object"),
        (
            "{acceptance: Array.from({length: 51}, (_, i) => ({id: `c${i}`, statement: 's'}))}",
            "meta: `acceptance` has 51 entries, at most 50 are allowed",
        ),
        ("{acceptance: ['x']}", "meta.acceptance[0] must be an object, found text"),
        ("{acceptance: [{id: 'a'}]}", "meta.acceptance[0]: `statement` must be text, found nothing"),
        (
            "{acceptance: [{id: 'a', statement: 's', weight: 1}]}",
            "meta.acceptance[0] has no `weight`: expected only `id`, `statement`",
        ),
        (
            "{acceptance: [{id: 'a', statement: 's'}, {id: ' a ', statement: 't'}]}",
            "meta.acceptance[1]: `id` is `a` for the second time",
        ),
        (
            "{acceptance: [{id: 'item.1', statement: 's'}]}",
            "meta.acceptance[0]: `id` must be an id that does not begin with `item.`, found `item.1`",
        ),
        (
            "{acceptance: [{id: '../x', statement: 's'}]}",
            "meta.acceptance[0]: `id` must be a letter or digit and letters, digits, `.`, `_`, `-`, found `../x`",
        ),
        (
            "{acceptance: [{id: 'x'.repeat(65), statement: 's'}]}",
            "meta.acceptance[0]: `id` has 65 characters, at most 64 are allowed",
        ),
        (
            "{acceptance: [{id: 'a', statement: 's'.repeat(501)}]}",
            "meta.acceptance[0]: `statement` has 501 characters, at most 500 are allowed",
        ),
    ];
    for (meta, message) in cases {
        let mut fake = Fake::with(&[]);
        let end = play(&format!("export const meta = {meta}; export default () => 1"), &mut fake);
        let ScriptEnd::Unusable { error } = end else { panic!("{meta}: {end:?}") };
        assert_eq!(error.to_string(), message, "{meta}");
        assert_eq!(error.code(), "script_meta_invalid");
        assert!(fake.seen.is_empty(), "{meta}");
    }
    let longest = "{acceptance: [{id: 'A' + '._-z'.repeat(15) + '123', statement: 's'.repeat(500)}]}";
    let end = play(&format!("export const meta = {longest}; export default () => 1"), &mut Fake::with(&[]));
    assert_eq!(end, returned(&json!(1)));
    let throwing = "export const meta = {get name() { throw new Error('mine') }}; export default () => 1";
    assert_eq!(without_stack(play(throwing, &mut Fake::with(&[]))), threw(Some("mine")));
}

#[test]
fn every_input_error_has_a_code_and_only_unsupported_needs_a_hint() {
    let (place, field) = ("agent()".to_owned(), "role".to_owned());
    let unsupported = InputError::Unsupported { place: place.clone(), field: field.clone() };
    assert_eq!((unsupported.code(), unsupported.hint().is_some()), ("input_unsupported", true));
    let duplicate = InputError::Duplicate { place, field, value: "x".to_owned() };
    assert_eq!((duplicate.code(), duplicate.hint()), ("input_duplicate", None));
}

#[test]
fn dynamic_imports_reach_only_the_bundle() {
    let modules = vec![
        (
            "/w/a.mjs".to_owned(),
            b"import './lib/b.mjs'; export default async () => (await import('./lib/b.mjs')).b".to_vec(),
        ),
        ("/w/lib/b.mjs".to_owned(), b"export const b = 'from b'".to_vec()),
    ];
    let bundle = Bundle::frozen("/w/a.mjs", modules).unwrap();
    let end = run(&bundle, &contexts(), &Options::new(START_MS, 7), &mut Fake::with(&[])).unwrap();
    assert_eq!(end, returned(&json!("from b")));
    for specifier in ["./other.mjs", "fs", "node:fs", "/etc/passwd", "https://example.org/x.mjs"] {
        let message = message_of(&format!("await import('{specifier}')"));
        assert!(message.starts_with(&format!("cannot import `{specifier}`: only modules")), "{message}");
    }
}
