//! One queue of completions: their order decides everything, so a recorded order replays.

use harn_engine::script::{Options, ScriptEnd, run};
use serde_json::{Value, json};

use crate::script_fake::{Answer, Fake, START_MS, bundle, contexts, play, returned};

const RACE: &str = "
    export default async ({agent, log, parallel, evidence}) => {
      const ask = async (name) => {
        const reply = await agent(name);
        log(name, reply, Date.now(), Math.random());
        return name;
      };
      const first = await Promise.race([ask('a'), ask('b'), ask('c')]);
      evidence({kind: 'observation', status: 'observed', label: `first was ${first}`});
      const rest = await parallel([() => ask(`after ${first}`), async () => { throw new Error(first) }]);
      return {first, rest, at: new Date().toISOString()};
    };";

fn done(call: u32) -> Answer {
    Answer::Done(call, json!(format!("reply {call}")))
}

/// Three completion orders of one race: each replays to itself, and they differ from each other.
#[test]
fn a_race_replays_exactly_in_its_recorded_order() {
    let orders = [([1, 2, 3, 4], "a"), ([2, 3, 1, 4], "b"), ([3, 4, 1, 2], "c")];
    let mut logs = Vec::new();
    for (order, winner) in orders {
        let play_once = || {
            let mut fake = Fake::with(&order.map(done));
            let end = play(RACE, &mut fake);
            (end, fake.seen)
        };
        let recorded = play_once();
        let ScriptEnd::Returned { result: Some(result) } = &recorded.0 else { panic!("{:?}", recorded.0) };
        assert_eq!(serde_json::from_str::<Value>(result).unwrap()["first"], json!(winner));
        for _ in 0..5 {
            assert_eq!(play_once(), recorded);
        }
        logs.push(recorded.1);
    }
    assert!(logs[0] != logs[1] && logs[1] != logs[2] && logs[0] != logs[2]);
}

/// One completion is delivered, all jobs run to rest, and only then the next is asked for.
#[test]
fn jobs_run_to_rest_between_two_completions() {
    let source = "
        export default async ({agent, log}) => {
          const ask = async (name) => {
            await agent(name);
            for (let step = 0; step < 3; step += 1) { await null; log(name, step) }
          };
          await Promise.all([ask('a'), ask('b')]);
          return 'end';
        };";
    let mut fake = Fake::with(&[done(2), done(1)]);
    assert_eq!(play(source, &mut fake), returned(&json!("end")));
    let expected = [
        "loaded flow",
        "agent a",
        "agent b",
        "next",
        "log b 0",
        "log b 1",
        "log b 2",
        "next",
        "log a 0",
        "log a 1",
        "log a 2",
    ];
    assert_eq!(fake.seen, expected);
}

#[test]
fn script_time_is_the_time_of_the_last_completion() {
    let source = "
        const loaded = Date.now();
        export default async ({agent}) => {
          const times = [loaded, Date.now()];
          await agent('a');
          times.push(Date.now());
          for (let i = 0; i < 1e5; i += 1);
          times.push(new Date().getTime());
          await agent('b');
          times.push(+new Date());
          return times;
        };";
    let mut fake = Fake::with(&[]);
    let end = play(source, &mut fake);
    let expected = [0, 0, 1_000, 1_000, 2_000].map(|since: i64| START_MS + since);
    assert_eq!(end, returned(&json!(expected)));
}

/// A completion for a call that nobody waits for, or that does not exist, changes nothing.
#[test]
fn unexpected_completions_are_ignored() {
    let source = "export default async ({agent}) => [await agent('a'), await agent('b')]";
    let mut fake = Fake::with(&[done(9), done(1), done(1), Answer::Failed(1, "again"), done(2)]);
    assert_eq!(play(source, &mut fake), returned(&json!(["reply 1", "reply 2"])));
}

#[test]
fn a_script_that_breaks_its_globals_breaks_only_itself() {
    let source = "
        Promise.prototype.toString = null; Array.isArray = () => true; JSON.stringify = null; JSON.parse = null;
        Object.freeze = null; globalThis.Error = null; globalThis.Promise = null; Map.prototype.set = null;
        export default async ({agent, log}) => { log({a: 1}); return {a: await agent('a')} }";
    let mut fake = Fake::with(&[]);
    assert_eq!(play(source, &mut fake), returned(&json!({"a": "reply 1"})));
}

#[test]
fn runs_share_nothing() {
    let source = bundle(
        "export default () => { const seen = globalThis.seen; globalThis.seen = 1; return seen ?? 0 }",
    );
    for _ in 0..2 {
        let end = run(&source, &contexts(), &Options::new(START_MS, 7), &mut Fake::with(&[])).unwrap();
        assert_eq!(end, returned(&json!(0)));
    }
}
