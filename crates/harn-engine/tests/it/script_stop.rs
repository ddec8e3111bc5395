//! The stop rule: once the stop flag is set, nothing a script does counts any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use harn_engine::script::{
    AgentCall, Blocked, CallId, CheckCall, EvidenceInput, Host, HostError, Meta, Next, Options, ScriptEnd,
    StopFlag, run,
};
use serde_json::json;

use crate::script_fake::{Answer, DiskFull, Fake, START_MS, bundle, contexts, play, play_body};

/// Everything a script might do after it was stopped; none of it may reach the host.
const AFTERMATH: &str = "
    ctx.stage('after'); ctx.log('after'); console.log('after');
    ctx.evidence({kind: 'test', status: 'passed', label: 'after'}); ctx.evidence('bad');
    ctx.agent('after'); ctx.agent(); ctx.check({name: 'after', argv: ['true']}); ctx.blocked({reason: 'again'});
    ctx.parallel([() => { throw new Error('after') }, () => ctx.agent('after')]);";

#[test]
fn blocked_cannot_be_caught() {
    let bodies = [
        "ctx.blocked({reason: 'r', decision: 'd'});",
        "await ctx.blocked({reason: 'r', decision: 'd'});",
        "ctx.blocked({reason: 'r', decision: 'd'}); return 'won';",
        "ctx.blocked({reason: 'r', decision: 'd'}); throw new Error('won');",
        "try { await ctx.blocked({reason: 'r', decision: 'd'}) } catch { return 'won' } finally { return 'won' }",
        "try { ctx.blocked({reason: 'r', decision: 'd'}); throw 1 } finally { return 'won' }",
        "return ctx.parallel([() => ctx.blocked({reason: 'r', decision: 'd'}), () => 1]);",
        "return ctx.parallel([async () => { ctx.blocked({reason: 'r', decision: 'd'}); throw 1 }]);",
        "return {toJSON() { ctx.blocked({reason: 'r', decision: 'd'}); return 'won' }};",
        "return Promise.race([ctx.blocked({reason: 'r', decision: 'd'}), 'won']);",
        "return Promise.any([ctx.blocked({reason: 'r', decision: 'd'}), Promise.resolve('won')]);",
        "queueMicrotask(() => ctx.log('won')); ctx.blocked({reason: 'r', decision: 'd'}); await null; ctx.log('won');",
        "ctx.blocked({reason: 'r', decision: 'd'}); for (;;) {}",
        "ctx.blocked({reason: 'r', decision: 'd'}); try { for (;;) {} } catch { return 'won' } finally { return 'won' }",
        "const f = () => f(); ctx.blocked({reason: 'r', decision: 'd'}); try { f() } catch {} return 'won';",
    ];
    for body in bodies {
        let (end, seen) = play_body(body, &[]);
        assert_eq!(end, ScriptEnd::Stopped, "{body}");
        assert_eq!(seen, ["blocked (\"r\", Some(\"d\"))"], "{body}");
    }
}

#[test]
fn nothing_reaches_the_host_after_a_stop() {
    let body = format!("ctx.blocked({{reason: 'r'}}); {AFTERMATH} await null; {AFTERMATH} return 1");
    let (end, seen) = play_body(&body, &[]);
    assert_eq!((end, seen), (ScriptEnd::Stopped, vec!["blocked (\"r\", None)".to_owned()]));
}

/// The stop comes with the answer of a host call: a cancel, or a run that parks.
#[test]
fn a_stop_during_a_host_call_wins() {
    for tail in ["return 1", "throw 1", "await null; return 1", "for (;;) {}", "await new Promise(() => {})"]
    {
        let source = format!("export default async (ctx) => {{ ctx.log('now'); {AFTERMATH} {tail} }}");
        let mut fake = Fake { stop_on_log: Some("now"), ..Fake::with(&[]) };
        assert_eq!(play(&source, &mut fake), ScriptEnd::Stopped, "{tail}");
        assert_eq!(fake.seen, ["loaded flow", "log now"], "{tail}");

        let source =
            format!("export default async (ctx) => {{ const p = ctx.agent('ask'); {AFTERMATH} {tail} }}");
        let mut fake = Fake { park_on_prompt: Some("ask"), ..Fake::with(&[]) };
        assert_eq!(play(&source, &mut fake), ScriptEnd::Stopped, "{tail}");
        assert_eq!(fake.seen, ["loaded flow", "agent ask"], "{tail}");
    }
}

#[test]
fn a_stop_while_waiting_ends_the_script() {
    let source = "export default async ({agent, log}) => { try { await agent('a') } finally { log('won') } }";
    let mut fake = Fake::with(&[Answer::Stop]);
    assert_eq!(play(source, &mut fake), ScriptEnd::Stopped);
    assert_eq!(fake.seen, ["loaded flow", "agent a", "next"]);
}

#[test]
fn endless_loops_are_interrupted_wherever_they_are() {
    let sources = [
        "console.log('now'); for (;;) {} export default () => 1",
        "console.log('now'); try { for (;;) {} } catch {} finally { for (;;) {} } export default () => 1",
        "console.log('now'); await (async () => { for (;;) await null })(); export default () => 1",
        "export const meta = {get name() { console.log('now'); for (;;) {} }}; export default () => 1",
        "export default () => { console.log('now'); for (;;) {} }",
        "export default async () => { await null; console.log('now'); for (;;) {} }",
        "export default async () => { console.log('now'); for (;;) await null }",
        "export default async () => { console.log('now'); const f = () => queueMicrotask(f); f(); await new Promise(() => {}) }",
        "export default () => ({toJSON() { console.log('now'); for (;;) {} }})",
        "export default () => { console.log('now'); [1].forEach(function f() { [1].forEach(() => {}); f2() }); function f2() { for (;;) {} } }",
        "export default () => { console.log('now'); /(a+)+$/.test('a'.repeat(40) + 'b') }",
        "export default ({agent}) => agent('p', {get model() { console.log('now'); for (;;) {} }})",
        "export default ({log}) => log({toJSON() { console.log('now'); for (;;) {} }})",
        "export default () => { throw {get message() { console.log('now'); for (;;) {} }} }",
    ];
    for source in sources {
        let mut fake = Fake { stop_on_log: Some("now"), ..Fake::with(&[]) };
        assert_eq!(play(source, &mut fake), ScriptEnd::Stopped, "{source}");
        assert_eq!(fake.seen.last().map(String::as_str), Some("log now"), "{source}");
    }
}

/// A flag that is set before the start: no line runs.
#[test]
fn a_run_that_is_stopped_before_it_starts_evaluates_nothing() {
    let mut fake = Fake::with(&[]);
    fake.stop.set();
    assert_eq!(play("console.log('ran'); export default () => 1", &mut fake), ScriptEnd::Stopped);
    assert!(fake.seen.is_empty());
}

/// Signals set the flag from another thread, at any time.
#[test]
fn a_flag_that_something_else_owns_stops_the_script() {
    let flag = Arc::new(AtomicBool::new(false));
    let mut fake = Fake { stop: StopFlag::from(Arc::clone(&flag)), ..Fake::with(&[]) };
    let setter = std::thread::spawn(move || flag.store(true, Ordering::SeqCst));
    assert_eq!(play("export default () => { for (;;) {} }", &mut fake), ScriptEnd::Stopped);
    setter.join().unwrap();
}

/// Exhaustion that comes first stays, and a stop that comes first stays.
#[test]
fn the_stop_wins_over_everything_that_follows_it() {
    let (end, _) = play_body("ctx.blocked({reason: 'r'}); new ArrayBuffer(1 << 30)", &[]);
    assert_eq!(end, ScriptEnd::Stopped);
    let (end, seen) = play_body("try { new ArrayBuffer(1 << 30) } catch {} ctx.blocked({reason: 'r'})", &[]);
    assert_eq!((end, seen), (ScriptEnd::OutOfMemory, vec![]));
}

#[test]
fn a_fatal_host_failure_comes_out_unchanged() {
    let sources = [
        "console.log('now'); for (;;) {} export default () => 1",
        "export default ({log}) => { try { log('now') } finally { for (;;) {} } }",
        "export default async ({log, parallel}) => { await parallel([() => log('now')]); log('after'); return 1 }",
        "export default async ({log}) => { log('now'); await null; log('after'); return 1 }",
    ];
    for source in sources {
        let mut fake = Fake { fatal_on_log: Some("now"), ..Fake::with(&[]) };
        let end = run(&bundle(source), &contexts(), &Options::new(START_MS, 7), &mut fake);
        assert_eq!(end, Err(DiskFull), "{source}");
        assert_eq!(fake.seen.last().map(String::as_str), Some("log now"), "{source}");
        assert!(fake.stop.is_set());
    }
}

/// A host whose every method fails, or panics when it is asked for the next completion.
struct Broken {
    stop: StopFlag,
    fail_in: &'static str,
}

impl Broken {
    fn fail(&self, method: &'static str) -> Result<(), &'static str> {
        if self.fail_in == method { Err(method) } else { Ok(()) }
    }
}

impl Host for Broken {
    type Fatal = &'static str;

    fn stop_flag(&self) -> StopFlag {
        self.stop.clone()
    }
    fn loaded(&mut self, _: &Meta) -> Result<(), Self::Fatal> {
        self.fail("loaded")
    }
    fn stage(&mut self, _: &str) -> Result<(), Self::Fatal> {
        self.fail("stage")
    }
    fn log(&mut self, _: &str) -> Result<(), Self::Fatal> {
        self.fail("log")
    }
    fn evidence(&mut self, _: EvidenceInput) -> Result<String, HostError<Self::Fatal>> {
        self.fail("evidence").map(|()| "e1".to_owned()).map_err(HostError::Fatal)
    }
    fn agent(&mut self, _: AgentCall) -> Result<CallId, HostError<Self::Fatal>> {
        self.fail("agent").map(|()| CallId(1)).map_err(HostError::Fatal)
    }
    fn check(&mut self, _: CheckCall) -> Result<CallId, HostError<Self::Fatal>> {
        self.fail("check").map(|()| CallId(2)).map_err(HostError::Fatal)
    }
    fn blocked(&mut self, _: Blocked) -> Result<(), Self::Fatal> {
        self.fail("blocked")
    }
    fn parallel_item_failed(&mut self, _: u32, _: Option<&str>) -> Result<(), Self::Fatal> {
        self.fail("parallel")
    }
    fn next(&mut self) -> Result<Next, Self::Fatal> {
        assert_ne!(self.fail_in, "panic", "the host panics");
        self.fail("next")?;
        Ok(Next::Completed { call: CallId(1), at_ms: 0, outcome: Ok(json!(1)) })
    }
}

const BUSY: &str = "
    export default async (ctx) => {
      try {
        ctx.stage('s'); ctx.log('l'); ctx.evidence({kind: 'test', status: 'passed', label: 'x'});
        ctx.check({name: 'c', argv: ['true']});
        await ctx.parallel([() => { throw 1 }, () => ctx.agent('p')]);
      } catch {}
      ctx.blocked({reason: 'r'});
    };";

#[test]
fn every_method_of_the_host_may_fail() {
    let methods = ["loaded", "stage", "log", "evidence", "agent", "check", "blocked", "parallel", "next"];
    for fail_in in methods {
        let mut host = Broken { stop: StopFlag::new(), fail_in };
        assert_eq!(run(&bundle(BUSY), &contexts(), &Options::new(START_MS, 7), &mut host), Err(fail_in));
    }
    let mut host = Broken { stop: StopFlag::new(), fail_in: "none" };
    assert_eq!(
        run(&bundle(BUSY), &contexts(), &Options::new(START_MS, 7), &mut host),
        Ok(ScriptEnd::Stopped)
    );
}

#[test]
fn a_panic_of_the_host_goes_on_in_the_caller() {
    let mut host = Broken { stop: StopFlag::new(), fail_in: "panic" };
    let run = || run(&bundle(BUSY), &contexts(), &Options::new(START_MS, 7), &mut host);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    assert!(host.stop.is_set());
}
