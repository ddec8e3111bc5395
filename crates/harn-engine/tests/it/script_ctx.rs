//! The members of `ctx` and the globals.

use harn_engine::script::{Contexts, Options, ScriptEnd, run};
use serde_json::{Value, json};

use crate::script_fake::{Answer, Fake, START_MS, bundle, message_of, play, play_body, returned, value_of};

fn with_contexts(contexts: &Contexts, body: &str) -> ScriptEnd {
    let source = format!("export default async (ctx) => {{ {body} }}");
    run(&bundle(&source), contexts, &Options::new(START_MS, 7), &mut Fake::with(&[])).unwrap()
}

fn work_contexts() -> Contexts {
    Contexts {
        work: Some(json!({"schema_version": 1, "id": "w1", "title": "T", "acceptance": ["one", "two"]})),
        attempt: Some(json!({
            "schema_version": 1, "number": 2, "trigger": "retry",
            "prior": {"run_id": "r1", "causes": ["workflow_error"], "unresolved": [{"id": "a"}]}
        })),
        workspace: json!({"root": "/w", "isolated": true, "branch": "harn/work/w1/2"}),
    }
}

/// K-44, K-45: the script sees what it was given, whatever the caller does with its own copy.
#[test]
fn k_44_k_45_the_script_sees_the_contexts_it_was_given() {
    let mut contexts = work_contexts();
    let given = contexts.clone();
    let expected = json!([given.work, given.attempt, given.workspace]);
    assert_eq!(
        with_contexts(&contexts, "return [ctx.work, ctx.attempt, ctx.workspace]"),
        returned(&expected)
    );
    contexts.work = Some(json!("changed"));
    assert_eq!(with_contexts(&given, "return ctx.work"), returned(&given.work.unwrap()));
}

/// K-40, K-42, K-44, K-45: frozen at every level, and mutation throws.
#[test]
fn k_40_k_42_contexts_are_frozen_at_every_level() {
    let mutations = [
        "ctx.work.title = 'x'",
        "ctx.work.added = 1",
        "delete ctx.work.id",
        "ctx.work.acceptance[0] = 'x'",
        "ctx.work.acceptance.push('x')",
        "ctx.attempt.number = 1",
        "ctx.attempt.prior.run_id = 'x'",
        "ctx.attempt.prior.causes.length = 0",
        "ctx.attempt.prior.unresolved[0].id = 'x'",
        "ctx.workspace.root = '/'",
        "ctx.work = {}",
        "ctx.agent = () => {}",
        "ctx.more = 1",
    ];
    for mutation in mutations {
        let end = with_contexts(&work_contexts(), mutation);
        let ScriptEnd::Threw { message: Some(message), .. } = end else { panic!("{mutation}: {end:?}") };
        assert!(message.starts_with("TypeError"), "{mutation}: {message}");
    }
}

/// K-46.
#[test]
fn k_46_a_run_without_a_work_item_has_no_work_and_no_attempt() {
    let members =
        "[Object.keys(ctx).sort().join(), ctx.work === undefined, 'attempt' in ctx, 'authorize' in ctx]";
    let expected = json!(["agent,blocked,check,evidence,log,parallel,stage,workspace", true, false, false]);
    assert_eq!(value_of(&format!("return {members}")), expected);
}

#[test]
fn a_context_member_may_have_any_name() {
    let contexts =
        Contexts { work: Some(json!({"__proto__": {"x": 1}, "toString": null})), ..work_contexts() };
    assert_eq!(
        with_contexts(&contexts, "return Object.keys(ctx.work)"),
        returned(&json!(["__proto__", "toString"]))
    );
}

#[test]
fn every_member_works_unbound() {
    let body = "
        const { agent, check, parallel, stage, log, evidence, blocked } = ctx;
        stage('s'); log('l');
        const id = evidence({kind: 'test', status: 'passed', label: 'x'});
        const reply = await agent('p');
        const checked = await check({name: 'c', argv: ['true']});
        const both = await parallel([() => agent('q'), () => 5]);
        log(JSON.stringify([id, reply, checked, both]));
        await blocked({reason: 'r'});";
    let (end, seen) = play_body(body, &[]);
    assert_eq!(end, ScriptEnd::Stopped);
    assert_eq!(
        seen,
        [
            "stage s",
            "log l",
            "evidence e1 test passed x \"\" (None, None, None)",
            "agent p",
            "check c [\"true\"] (None, None, [])",
            "agent q",
            "log [\"e1\",\"reply 1\",\"reply 2\",[\"reply 3\",5]]",
            "blocked (\"r\", None)",
        ]
    );
}

#[test]
fn agents_resolve_to_what_the_host_says_and_fail_with_its_message() {
    let (end, _) =
        play_body("return await ctx.agent('p')", &[Answer::Done(1, json!({"a": [1, "\u{0}é😀"]}))]);
    assert_eq!(end, returned(&json!({"a": [1, "\u{0}é😀"]})));
    let body = "try { await ctx.agent('p') } catch (e) { return [e instanceof Error, e.message, String(e)] }";
    let (end, _) = play_body(body, &[Answer::Failed(1, "it broke")]);
    assert_eq!(end, returned(&json!([true, "it broke", "Error: it broke"])));
    let (end, _) = play_body(body, &[Answer::Failed(1, "")]);
    assert_eq!(end, returned(&json!([true, "", "Error"])));
}

#[test]
fn prompts_reach_the_host_byte_for_byte() {
    let (_, seen) = play_body("await ctx.agent('  keep\\n\\tthis é😀  ')", &[]);
    assert_eq!(seen, ["agent   keep\n\tthis é😀  "]);
    let (_, seen) = play_body("await ctx.agent('half \\ud83d')", &[]);
    assert_eq!(seen, ["agent half \u{fffd}"]);
}

#[test]
fn agent_options_reach_the_host() {
    let body = "await ctx.agent('p', {adapter: ' codex ', model: 'm', effort: 'high', label: 'L'.repeat(201),
        maxTurns: 1000, timeoutMs: 1, })";
    let (_, seen) = play_body(body, &[]);
    let label = format!("{}… [cut]", "L".repeat(193));
    let options =
        format!("  (Some(\"codex\"), Some(\"m\"), Some(\"high\"), Some(\"{label}\"), Some(1000), Some(1))");
    assert_eq!(seen, ["agent p".to_owned(), options]);
    let (_, seen) =
        play_body("await ctx.agent('p', {model: undefined}); await ctx.agent('q', undefined)", &[]);
    assert_eq!(seen, ["agent p", "agent q"]);
}

#[test]
fn check_options_reach_the_host() {
    let body =
        "await ctx.check({name: ' unit ', argv: ['cargo', 'test', ''], cwd: 'sub', timeoutMs: 86400000,
        acceptanceIds: ['a', ' b', 'a']})";
    let (_, seen) = play_body(body, &[]);
    assert_eq!(
        seen,
        ["check unit [\"cargo\", \"test\", \"\"] (Some(\"sub\"), Some(86400000), [\"a\", \"b\"])"]
    );
}

#[test]
fn bad_calls_throw_and_reach_no_host() {
    let long = "'x'.repeat(201)";
    let cases = [
        ("ctx.agent()", "agent(): `prompt` must be text, found nothing"),
        ("ctx.agent(' ')", "agent(): `prompt` must be text, found blank text"),
        ("ctx.agent(['p'])", "agent(): `prompt` must be text, found an array"),
        ("ctx.agent(Promise.resolve('p'))", "agent(): `prompt` must be text, found a promise"),
        ("ctx.agent('a\\0b')", "agent(): `prompt` must be text, found text with a NUL character"),
        ("ctx.agent('p', 'codex')", "options of agent() must be an object, found text"),
        ("ctx.agent('p', null)", "options of agent() must be an object, found `null`"),
        ("ctx.agent('p', [])", "options of agent() must be an object, found an array"),
        ("ctx.agent('p', () => {})", "options of agent() must be an object, found a function"),
        (
            "ctx.agent('p', {temperature: 1})",
            "options of agent() has no `temperature`: expected only `adapter`, `model`, `effort`, `label`, `maxTurns`, `timeoutMs`",
        ),
        ("ctx.agent('p', {schema: {}})", "options of agent(): `schema` is not supported by this build"),
        ("ctx.agent('p', {role: 'writer'})", "options of agent(): `role` is not supported by this build"),
        (
            "ctx.agent('p', {maxAttempts: 1})",
            "options of agent(): `maxAttempts` is not supported by this build",
        ),
        ("ctx.agent('p', {model: null})", "options of agent(): `model` must be text, found `null`"),
        ("ctx.agent('p', {model: 5})", "options of agent(): `model` must be text, found a number"),
        (
            &format!("ctx.agent('p', {{model: {long}}})"),
            "options of agent(): `model` has 201 characters, at most 200 are allowed",
        ),
        (
            "ctx.agent('p', {maxTurns: 0})",
            "options of agent(): `maxTurns` must be a whole number from 1 to 1000, found 0",
        ),
        (
            "ctx.agent('p', {maxTurns: 2.5})",
            "options of agent(): `maxTurns` must be a whole number from 1 to 1000, found 2.5",
        ),
        (
            "ctx.agent('p', {maxTurns: NaN})",
            "options of agent(): `maxTurns` must be a whole number from 1 to 1000, found NaN",
        ),
        (
            "ctx.agent('p', {timeoutMs: '5'})",
            "options of agent(): `timeoutMs` must be a whole number from 1 to 86400000, found text",
        ),
        (
            "ctx.agent('p', {timeoutMs: 86400001})",
            "options of agent(): `timeoutMs` must be a whole number from 1 to 86400000, found 86400001",
        ),
        ("ctx.agent('p', {adapter: 'nobody'})", "there is no adapter `nobody`"),
        ("ctx.agent('p', {get model() { throw new Error('getter') }})", "getter"),
        ("ctx.check()", "check() must be an object, found nothing"),
        ("ctx.check({argv: ['true']})", "check(): `name` must be text, found nothing"),
        (
            "ctx.check({name: 'c'})",
            "check(): `argv` must be an array that starts with the program, found nothing",
        ),
        (
            "ctx.check({name: 'c', argv: []})",
            "check(): `argv` must be an array that starts with the program, found nothing",
        ),
        (
            "ctx.check({name: 'c', argv: ['']})",
            "check(): `argv` must be an array that starts with the program, found nothing",
        ),
        ("ctx.check({name: 'c', argv: 'ls'})", "check(): `argv` must be an array, found text"),
        ("ctx.check({name: 'c', argv: ['ls', 5]})", "check(): `argv[1]` must be text, found a number"),
        (
            "ctx.check({name: 'c', argv: ['ls', '\\0']})",
            "check(): `argv[1]` must be text, found text with a NUL character",
        ),
        ("ctx.check({name: 'c', argv: ['ls'], cwd: ''})", "check(): `cwd` must be text, found blank text"),
        (
            "ctx.check({name: 'c', argv: ['ls'], shell: true})",
            "check() has no `shell`: expected only `name`, `argv`, `cwd`, `timeoutMs`, `acceptanceIds`",
        ),
        (
            "ctx.check({name: 'c', argv: ['ls'], acceptanceIds: ['a', ' ']})",
            "check(): `acceptanceIds[1]` must be an id, found blank text",
        ),
        ("ctx.stage()", "stage(): `title` must be text, found nothing"),
        ("ctx.stage(' ')", "stage(): `title` must be text, found blank text"),
        ("ctx.blocked()", "blocked() must be an object, found nothing"),
        ("ctx.blocked({})", "blocked(): `reason` must be text, found nothing"),
        ("ctx.blocked({reason: ' '})", "blocked(): `reason` must be text, found blank text"),
        ("ctx.blocked({reason: 'r', why: 1})", "blocked() has no `why`: expected only `reason`, `decision`"),
        ("ctx.parallel()", "parallel() expects an array of functions"),
        ("ctx.parallel([() => 1, 2])", "parallel() expects an array of functions, entry 1 is none"),
        ("ctx.parallel([ctx.agent('started')])", "parallel() expects an array of functions, entry 0 is none"),
    ];
    for (call, message) in cases {
        let body = format!("try {{ await {call} }} catch (e) {{ return [e instanceof Error, e.message] }}");
        let (end, seen) = play_body(&body, &[]);
        assert_eq!(end, returned(&json!([true, message])), "{call}");
        assert!(seen.is_empty() || seen == ["agent started"], "{call}: {seen:?}");
    }
}

#[test]
fn asynchronous_members_reject_instead_of_throwing() {
    for call in ["ctx.agent()", "ctx.check()", "ctx.parallel()"] {
        assert_eq!(value_of(&format!("return {call}.then(() => 'ok', () => 'rejected')")), json!("rejected"));
    }
}

#[test]
fn parallel_starts_all_and_turns_a_rejection_into_null() {
    let body = "return ctx.parallel([
        () => ctx.agent('one'), () => ctx.agent('two'), () => { throw new Error('sync') },
        async () => { throw new Error('') }, () => Promise.reject(null), () => 7, () => ctx.agent('six')])";
    let answers =
        [Answer::Done(2, json!("second")), Answer::Failed(1, "no luck"), Answer::Done(3, json!(null))];
    let (end, seen) = play_body(body, &answers);
    assert_eq!(end, returned(&json!([null, "second", null, null, null, 7, null])));
    assert_eq!(
        seen,
        [
            "agent one",
            "agent two",
            "parallel item 2 failed Some(\"sync\")",
            "agent six",
            "parallel item 3 failed None",
            "parallel item 4 failed None",
            "parallel item 0 failed Some(\"no luck\")",
        ]
    );
    assert_eq!(value_of("return ctx.parallel([])"), json!([]));
}

/// K-91, K-94.
#[test]
fn k_91_k_94_evidence_reaches_the_host() {
    let label = format!("{}… [cut]", "L".repeat(193));
    let exact = "L".repeat(200);
    let cases = [
        ("{kind: 'test', status: 'passed', label: 'x'}", "test passed x \"\" (None, None, None)".to_owned()),
        (
            "{kind: 'review', status: 'failed', label: ' x ', summary: ' s ', ref: 'r', acceptanceIds: ['b', 'a', 'b']}",
            "review failed x \"b,a\" (Some(\"s\"), Some(\"r\"), None)".to_owned(),
        ),
        ("{kind: 'command', status: 'observed', label: 'L'.repeat(201)}", format!("command observed {label} \"\" (None, None, None)")),
        ("{kind: 'artifact', status: 'unknown', label: 'L'.repeat(200)}", format!("artifact unknown {exact} \"\" (None, None, None)")),
        (
            "{kind: 'change', status: 'passed', label: 'x', summary: 's'.repeat(2000), ref: undefined}",
            format!("change passed x \"\" (Some(\"{}\"), None, None)", "s".repeat(2000)),
        ),
        (
            "{kind: 'tes' + 'ts', status: 'passed', label: 'x', acceptanceIds: ['item.1']}",
            "observation unknown x \"item.1\" (None, None, Some(\"unknown evidence kind `tests`: kept as an observation with status unknown\"))".to_owned(),
        ),
        (
            "{status: 'failed', label: 'x'}",
            "observation unknown x \"\" (None, None, Some(\"unknown evidence kind nothing: kept as an observation with status unknown\"))".to_owned(),
        ),
        (
            "{kind: ['test'], status: 'failed', label: 'x'}",
            "observation unknown x \"\" (None, None, Some(\"unknown evidence kind an array: kept as an observation with status unknown\"))".to_owned(),
        ),
    ];
    for (input, expected) in cases {
        let (end, seen) = play_body(&format!("return ctx.evidence({input})"), &[]);
        assert_eq!((end, seen), (returned(&json!("e1")), vec![format!("evidence e1 {expected}")]), "{input}");
    }
    let ids =
        "const e = () => ctx.evidence({kind: 'test', status: 'passed', label: 'x'}); return [e(), e(), e()]";
    assert_eq!(value_of(ids), json!(["e1", "e2", "e3"]));
}

/// K-91, K-94.
#[test]
fn k_91_k_94_bad_evidence_throws() {
    let cases = [
        ("", "evidence() must be an object, found nothing"),
        (
            "{kind: 'test', label: 'x'}",
            "evidence(): `status` must be `passed`, `failed`, `observed` or `unknown`, found nothing",
        ),
        (
            "{kind: 'test', status: 'ok', label: 'x'}",
            "evidence(): `status` must be `passed`, `failed`, `observed` or `unknown`, found `ok`",
        ),
        ("{kind: 'test', status: 'passed'}", "evidence(): `label` must be text, found nothing"),
        (
            "{kind: 'test', status: 'passed', label: ' '}",
            "evidence(): `label` must be text, found blank text",
        ),
        (
            "{kind: 'test', status: 'passed', label: 'x', summary: 's'.repeat(2001)}",
            "evidence(): `summary` has 2001 characters, at most 2000 are allowed",
        ),
        (
            "{kind: 'test', status: 'passed', label: 'x', ref: 's'.repeat(1001)}",
            "evidence(): `ref` has 1001 characters, at most 1000 are allowed",
        ),
        (
            "{kind: 'test', status: 'passed', label: 'x', acceptanceIds: 'a'}",
            "evidence(): `acceptanceIds` must be an array, found text",
        ),
        (
            "{kind: 'test', status: 'passed', label: 'x', acceptanceIds: ['zz']}",
            "there is no acceptance criterion `zz`",
        ),
        (
            "{kind: 'test', status: 'passed', label: 'x', id: 'e9'}",
            "evidence() has no `id`: expected only `kind`, `status`, `label`, `summary`, `ref`, `acceptanceIds`",
        ),
    ];
    for (input, message) in cases {
        assert_eq!(message_of(&format!("ctx.evidence({input})")), message, "{input}");
    }
}

#[test]
fn log_and_console_write_one_line_per_call() {
    let cases = [
        ("ctx.log('a')", "a"),
        ("ctx.log()", ""),
        ("console.log('a', 1, true, null, undefined, 10n)", "a 1 true null undefined 10"),
        ("console.error({a: [1]}, [], ['x'])", "{\"a\":[1]} [] [\"x\"]"),
        ("console.warn(Symbol('s'), () => 1, Promise.resolve(1))", "a symbol a function {}"),
        ("console.info({toJSON() { throw 1 }})", "an object"),
        ("const o = {}; o.o = o; console.debug(o)", "an object"),
        ("console.trace('half \\udc00')", "half \u{fffd}"),
        ("const {dir} = console; dir(0)", "0"),
    ];
    for (body, line) in cases {
        assert_eq!(play_body(body, &[]).1, [format!("log {line}")], "{body}");
    }
    let (_, seen) = play_body("console.log(new TypeError('bad'))", &[]);
    assert!(seen[0].starts_with("log TypeError: bad\nat default (/w/flow.mjs:1:"), "{seen:?}");
}

#[test]
fn a_module_may_log_while_it_is_evaluated() {
    let mut fake = Fake::with(&[]);
    play("console.log('top'); export default ({log}) => log('main')", &mut fake);
    assert_eq!(fake.seen, ["log top", "loaded flow", "log main"]);
}

#[test]
fn titles_are_trimmed_and_cut() {
    let (_, seen) = play_body("ctx.stage('  one '); ctx.stage('x'.repeat(201))", &[]);
    assert_eq!(seen, ["stage one".to_owned(), format!("stage {}… [cut]", "x".repeat(193))]);
}

#[test]
fn what_would_vary_from_run_to_run_is_gone() {
    for name in [
        "performance",
        "Atomics",
        "SharedArrayBuffer",
        "WeakRef",
        "FinalizationRegistry",
        "Intl",
        "WebAssembly",
    ] {
        assert_eq!(
            value_of(&format!("return [typeof {name}, '{name}' in globalThis]")),
            json!(["undefined", false])
        );
    }
    assert_eq!(
        value_of("return [typeof Error.captureStackTrace, typeof Error.prepareStackTrace]"),
        json!(["undefined", "undefined"])
    );
}

#[test]
fn names_that_scripts_expect_say_what_to_use() {
    let cases = [
        ("setTimeout(() => {}, 5)", "setTimeout", "timeoutMs"),
        ("setInterval(() => {}, 5)", "setInterval", "await"),
        ("setImmediate(() => {})", "setImmediate", "queueMicrotask"),
        ("await fetch('https://example.org')", "fetch", "ctx.check"),
        ("require('fs')", "require", "import"),
        ("process.env.HOME", "process", "ctx.work"),
        ("Buffer.from('x')", "Buffer", "Uint8Array"),
    ];
    for (body, name, advice) in cases {
        let message = message_of(body);
        assert!(message.starts_with(&format!("`{name}` does not exist in a workflow: ")), "{message}");
        assert!(message.contains(advice), "{message}");
    }
}

#[test]
fn random_numbers_depend_on_the_seed_alone() {
    let draw = |seed: u64| -> Value {
        let source = bundle("export default () => [Math.random(), Math.random(), Math.random()]");
        let contexts = work_contexts();
        match run(&source, &contexts, &Options::new(START_MS, seed), &mut Fake::with(&[])).unwrap() {
            ScriptEnd::Returned { result: Some(json) } => serde_json::from_str(&json).unwrap(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
    let first = draw(0)[0].as_f64().unwrap();
    assert!((first - 0.883_310_808_213_642_6).abs() < f64::EPSILON, "{first}");
}
