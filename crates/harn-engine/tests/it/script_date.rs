//! `Date`: script time, a fixed zone, no trace of the machine.

use harn_engine::script::{Options, ScriptEnd, run};
use serde_json::{Value, json};

use crate::script_fake::{Fake, START_MS, bundle, contexts};

/// The value of an expression in a zone so many minutes east of UTC.
fn value_in(zone_offset_minutes: i32, expression: &str) -> Value {
    let mut options = Options::new(START_MS, 7);
    options.zone_offset_minutes = zone_offset_minutes;
    let source = bundle(&format!("export default () => ({expression})"));
    match run(&source, &contexts(), &options, &mut Fake::with(&[])).unwrap() {
        ScriptEnd::Returned { result: Some(json) } => serde_json::from_str(&json).unwrap(),
        other => panic!("`{expression}` ended as {other:?}"),
    }
}

#[test]
fn the_current_time_is_script_time() {
    let now = [
        "Date.now()",
        "+new Date()",
        "new Date().getTime()",
        "Reflect.construct(Date, []).valueOf()",
        "new (class Sub extends Date {})().getTime()",
        "new Date(Date.prototype.constructor.now()).getTime()",
        "new (new Date().constructor)().getTime()",
        "new (Object.getPrototypeOf(new Date()).constructor)().getTime()",
        "eval('Date.now()')",
        "new Function('return Date.now()')()",
        "(0, eval)('+new Date()')",
        "(() => {}).constructor('return +new Date()')()",
    ];
    for expression in now {
        assert_eq!(value_in(0, expression), json!(START_MS), "{expression}");
    }
    assert_eq!(value_in(0, "Date()"), json!("Fri Jan 02 2026 03:04:05 GMT+0000"));
    assert_eq!(value_in(330, "Date()"), json!("Fri Jan 02 2026 08:34:05 GMT+0530"));
    assert_eq!(value_in(0, "Object.getPrototypeOf(Date) === Function.prototype"), json!(true));
    assert_eq!(
        value_in(0, "[Date.name, Date.length, typeof Date, new Date() instanceof Date]"),
        json!(["Date", 7, "function", true])
    );
}

#[test]
fn fields_and_texts_are_those_of_the_fixed_zone() {
    let date = "new Date(Date.UTC(2026, 0, 31, 23, 30, 15, 7))";
    let cases = [
        (0, "getTimezoneOffset()", json!(0)),
        (90, "getTimezoneOffset()", json!(-90)),
        (-480, "getTimezoneOffset()", json!(480)),
        (90, "getFullYear()", json!(2026)),
        (90, "getMonth()", json!(1)),
        (90, "getDate()", json!(1)),
        (90, "getDay()", json!(0)),
        (90, "getHours()", json!(1)),
        (90, "getMinutes()", json!(0)),
        (90, "getSeconds()", json!(15)),
        (90, "getMilliseconds()", json!(7)),
        (90, "getUTCHours()", json!(23)),
        (90, "toISOString()", json!("2026-01-31T23:30:15.007Z")),
        (90, "toJSON()", json!("2026-01-31T23:30:15.007Z")),
        (90, "toUTCString()", json!("Sat, 31 Jan 2026 23:30:15 GMT")),
        (90, "toString()", json!("Sun Feb 01 2026 01:00:15 GMT+0130")),
        (-480, "toString()", json!("Sat Jan 31 2026 15:30:15 GMT-0800")),
        (90, "toDateString()", json!("Sun Feb 01 2026")),
        (90, "toTimeString()", json!("01:00:15 GMT+0130")),
        (90, "toLocaleString()", json!("2026-02-01 01:00:15")),
        (90, "toLocaleDateString('de-DE')", json!("2026-02-01")),
        (90, "toLocaleTimeString()", json!("01:00:15")),
        (90, "constructor.name", json!("Date")),
    ];
    for (zone, call, expected) in cases {
        assert_eq!(value_in(zone, &format!("{date}.{call}")), expected, "{zone} {call}");
    }
    assert_eq!(value_in(90, &format!("`${{{date}}}`")), json!("Sun Feb 01 2026 01:00:15 GMT+0130"));
    assert_eq!(value_in(90, &format!("{date} - 0")), json!(1_769_902_215_007_i64));
}

#[test]
fn setters_work_in_the_fixed_zone() {
    let cases = [
        ("d.setHours(0)", "2026-01-31T22:30:15.007Z"),
        ("d.setHours(5, 6, 7, 8)", "2026-02-01T03:36:07.008Z"),
        ("d.setDate(28)", "2026-02-27T23:30:15.007Z"),
        ("d.setMonth(11, 24)", "2026-12-23T23:30:15.007Z"),
        ("d.setFullYear(2000)", "2000-01-31T23:30:15.007Z"),
        ("d.setMinutes(59)", "2026-02-01T00:29:15.007Z"),
        ("d.setSeconds(1, 2)", "2026-01-31T23:30:01.002Z"),
        ("d.setMilliseconds(999)", "2026-01-31T23:30:15.999Z"),
        ("d.setUTCHours(1)", "2026-01-31T01:30:15.007Z"),
        ("d.setTime(0)", "1970-01-01T00:00:00.000Z"),
    ];
    for (call, expected) in cases {
        let expression = format!(
            "(() => {{ const d = new Date(1769902215007); const r = {call}; return [d.toISOString(), r === d.getTime()] }})()"
        );
        assert_eq!(value_in(90, &expression), json!([expected, true]), "{call}");
    }
}

#[test]
fn explicit_arguments_and_parsing() {
    let cases = [
        ("0", "1970-01-01T00:00:00.000Z"),
        ("null", "1970-01-01T00:00:00.000Z"),
        ("true", "1970-01-01T00:00:00.001Z"),
        ("new Date(5)", "1970-01-01T00:00:00.005Z"),
        ("new Number(6)", "1970-01-01T00:00:00.006Z"),
        ("new String('2026-01-02')", "2026-01-02T00:00:00.000Z"),
        ("{valueOf: () => 7}", "1970-01-01T00:00:00.007Z"),
        ("2026, 0", "2025-12-31T22:30:00.000Z"),
        ("2026, 0, 2, 3, 4, 5, 6", "2026-01-02T01:34:05.006Z"),
        ("99, 0, 1, 1, 30", "1999-01-01T00:00:00.000Z"),
        ("2026, 13, 32", "2027-03-03T22:30:00.000Z"),
        ("'2026'", "2026-01-01T00:00:00.000Z"),
        ("'2026-03'", "2026-03-01T00:00:00.000Z"),
        ("'2026-03-04'", "2026-03-04T00:00:00.000Z"),
        ("'2026-03-04T05:06Z'", "2026-03-04T05:06:00.000Z"),
        ("'2026-03-04T05:06:07.089Z'", "2026-03-04T05:06:07.089Z"),
        ("'2026-03-04T05:06:07.1234567Z'", "2026-03-04T05:06:07.123Z"),
        ("'2026-03-04T05:06:07.5Z'", "2026-03-04T05:06:07.500Z"),
        ("'2026-03-04T05:06:07+02:00'", "2026-03-04T03:06:07.000Z"),
        ("'2026-03-04T05:06:07-0230'", "2026-03-04T07:36:07.000Z"),
        ("'2026-03-04T24:00:00Z'", "2026-03-05T00:00:00.000Z"),
        ("'2026-03-04T05:06'", "2026-03-04T03:36:00.000Z"),
        ("'2026-03-04 05:06:07'", "2026-03-04T03:36:07.000Z"),
        ("'+002026-03-04'", "2026-03-04T00:00:00.000Z"),
        ("'0050-01-01'", "0050-01-01T00:00:00.000Z"),
        ("'Sat, 31 Jan 2026 23:30:15 GMT'", "2026-01-31T23:30:15.000Z"),
        ("'31 Jan 2026 23:30:15 +0200'", "2026-01-31T21:30:15.000Z"),
        ("'Sun Feb 01 2026 01:00:15 GMT+0130'", "2026-01-31T23:30:15.000Z"),
        ("'Sun Feb 01 2026 01:00:15 GMT+0100 (Somewhere)'", "2026-02-01T00:00:15.000Z"),
        ("'Sun Feb 01 2026'", "2026-01-31T22:30:00.000Z"),
        ("'1 Feb 2026 10:00'", "2026-02-01T08:30:00.000Z"),
    ];
    for (arguments, expected) in cases {
        assert_eq!(
            value_in(90, &format!("new Date({arguments}).toISOString()")),
            json!(expected),
            "{arguments}"
        );
    }
    let invalid = [
        "NaN",
        "undefined",
        "'soon'",
        "''",
        "{}",
        "'2026-13-01'",
        "'2026-02-30'",
        "'2026-01-01T25:00Z'",
        "'2026-01-01T24:00:01Z'",
        "'2026-01-01T10:60Z'",
        "'2026-01-01T10:00:60Z'",
        "'-000000-01-01'",
        "'1 Foo 2026'",
        "8.64e15 + 1",
        "'01/02/2026'",
        "() => '2026-01-01'",
    ];
    for arguments in invalid {
        let expression = format!("[new Date({arguments}).getTime(), String(new Date({arguments}))]");
        assert_eq!(value_in(90, &expression), json!([null, "Invalid Date"]), "{arguments}");
    }
    assert_eq!(
        value_in(90, "[Date.parse('2026-01-02'), Date.parse('x'), Date.UTC(1970, 0, 1)]"),
        json!([1_767_312_000_000_i64, null, 0])
    );
}

#[test]
fn every_text_of_a_date_parses_back() {
    for zone in [-720, -1, 0, 90, 840] {
        for text in ["toString", "toISOString", "toUTCString"] {
            let expression = format!("Date.parse(new Date(1769902215000).{text}())");
            assert_eq!(value_in(zone, &expression), json!(1_769_902_215_000_i64), "{zone} {text}");
        }
    }
}

#[test]
fn methods_refuse_what_is_no_date() {
    for call in ["getHours", "setHours", "toString", "getTimezoneOffset", "toLocaleString"] {
        let expression = format!(
            "(() => {{ try {{ Date.prototype.{call}.call({{}}) }} catch (e) {{ return e instanceof TypeError }} }})()"
        );
        assert_eq!(value_in(0, &expression), json!(true), "{call}");
    }
    let nan = "new Date(NaN)";
    assert_eq!(
        value_in(90, &format!("[{nan}.getHours(), {nan}.getTimezoneOffset(), {nan}.toJSON()]")),
        json!([null, null, null])
    );
}
