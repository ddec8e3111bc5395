//! A review in memory: commands are decided, what they give goes through JSON as on disk, and is folded.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::collections::{BTreeMap, BTreeSet};

use harn_ledger::{BlobRef, Decider as _, Digest, Recorded, Timestamp};
use harn_review::check::{Check, CheckOutcome, CheckResult, Scope};
use harn_review::event::Decision;
use harn_review::plan::{PlanSchema, Task};
use harn_review::{
    Base, Command, Event, Finding, FindingId, Gate, Intent, Offer, Outside, Plan, Published, Refusal, Review,
    Source, SourcePath, State, Turn, gate, next,
};
use serde_json::{Value, json};

/// Where the base branch is.
pub(crate) const BASE: &str = "1111111111111111111111111111111111111111";

const FILES: [(&str, &str); 4] = [
    ("src/a.rs", "pub fn a() {\n    first();\n    second();\n    third();\n}\n"),
    ("src/b.rs", "pub fn b() {\n    fourth();\n    fifth();\n    sixth();\n}\n"),
    ("cli/main.rs", "fn main() {\n    start();\n    run();\n    watch();\n    wait();\n    stop();\n}\n"),
    ("docs/guide.md", "# Guide\n\nRun it.\nStop it.\n"),
];

pub(crate) fn id(text: &str) -> FindingId {
    text.parse().unwrap()
}

pub(crate) fn path(text: &str) -> SourcePath {
    SourcePath::new(text).unwrap()
}

/// Noon of a day, and seconds after it.
fn at(seconds: i64) -> Timestamp {
    let noon: Timestamp = "2026-07-22T12:00:00.000000Z".parse().unwrap();
    Timestamp::from_microseconds(noon.as_microseconds() + seconds * 1_000_000)
}

pub(crate) fn check(name: &str) -> Check {
    Check {
        name: name.to_owned(),
        argv: vec!["run".to_owned(), name.to_owned()],
        cwd: None,
        timeout_seconds: None,
    }
}

fn task(id: &str, depends_on: &[&str], checks: Vec<Check>) -> Task {
    let dir = if id == "lib" { "src" } else { id };
    let depends_on = depends_on.iter().map(|&on| on.to_owned()).collect();
    Task { id: id.to_owned(), owner: None, files: vec![format!("{dir}/**")], checks, depends_on }
}

/// Three tasks, each after the one before; two combined checks, of which the first is also one of `lib`.
pub(crate) fn plan() -> Plan {
    let tasks = vec![
        task("docs", &["cli"], Vec::new()),
        task("cli", &["lib"], Vec::new()),
        task("lib", &[], vec![check("test")]),
    ];
    Plan { schema: PlanSchema::V1, tasks, combined: vec![check("test"), check("lint")], environment: None }
}

/// The same plan with one more combined check.
pub(crate) fn other_plan() -> Plan {
    let mut plan = plan();
    plan.combined.push(check("audit"));
    plan
}

/// A value with other members; those that are null are taken away.
pub(crate) fn with(value: &Value, more: Value) -> Value {
    let mut value = value.clone();
    let Value::Object(more) = more else { panic!("{more} is no object") };
    for (name, member) in more {
        if member.is_null() {
            value.as_object_mut().unwrap().remove(&name);
        } else {
            value[&name] = member;
        }
    }
    value
}

/// A new finding at a place such as `src/a.rs:2`. Its directory tells the owner.
pub(crate) fn new(kind: &str, place: &str, title: &str) -> Value {
    let (file, line) = place.rsplit_once(':').unwrap();
    let owner = match file.split('/').next().unwrap() {
        "src" => "lib",
        owner => owner,
    };
    let line: u64 = line.parse().unwrap();
    json!({
        "kind": kind, "owner": owner, "file": file, "line": line, "priority": "P1", "title": title,
        "evidence": format!("{title}: seen"),
    })
}

pub(crate) fn defect(place: &str, title: &str) -> Value {
    new("defect", place, title)
}

/// An account with everything that its verdict needs, but for the checks of `fixed`.
pub(crate) fn account(id: &str, verdict: &str) -> Value {
    let account = json!({"id": id, "verdict": verdict});
    match verdict.split_once(' ') {
        Some(("merged", into)) => {
            json!({"id": id, "verdict": "merged", "into": into, "reason": "The same cause."})
        }
        _ if verdict == "fixed" => account,
        _ if verdict == "dismissed" => {
            let cites = json!([{"file": "src/b.rs", "line": 1}]);
            with(
                &account,
                json!({"reason": "It cannot happen.", "evidence": "It is guarded.", "cites": cites}),
            )
        }
        _ => with(&account, json!({"evidence": format!("{id} is looked at again.")})),
    }
}

/// Accounts in short: `R1 open`, `R2 merged R1`.
pub(crate) fn accounts(short: &[&str]) -> Vec<Value> {
    short.iter().filter_map(|it| it.split_once(' ')).map(|(id, verdict)| account(id, verdict)).collect()
}

/// One review and everything around it.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    pub(crate) intent: Intent,
    pub(crate) state: State,
    pub(crate) log: Vec<Recorded<Event>>,
    pub(crate) source: Source,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::of(plan())
    }

    pub(crate) fn of(plan: Plan) -> Self {
        let intent = Intent {
            schema_version: 1,
            id: "rv-1".parse().unwrap(),
            request: "Make it work.".to_owned(),
            root: "/project".to_owned(),
            base: Some(Base { remote: None, branch: "main".to_owned(), commit: BASE.to_owned() }),
            plan,
            work_item: None,
            require_coverage: false,
            created_at: at(0),
        };
        let files: BTreeMap<_, _> = FILES.map(|(file, text)| (path(file), text.to_owned())).into();
        let source = Source::of(fingerprint(&files), files);
        let mut desk = Self { state: Review::init(&intent), intent, log: Vec::new(), source };
        desk.does(Command::Open {});
        desk
    }

    /// R1 an attempted defect, R2 dismissed, R3 fixed, R4 merged into R1, R5 a note, R6 uncertain, R7 to R10 defects that
    /// nobody attempted. [`OPEN`] accounts for it.
    pub(crate) fn museum() -> Self {
        let mut desk = Self::new();
        let places = ["src/a.rs:2", "src/a.rs:3", "src/a.rs:4", "src/b.rs:2"];
        let mut raised: Vec<Value> =
            places.iter().map(|place| defect(place, &format!("At {place}"))).collect();
        raised.push(new("note", "src/b.rs:3", "Just so"));
        assert_eq!(desk.turn("findings", &[], &raised), "accepted");
        desk.repairs(&["R3"]);
        let judged = accounts(&["R1 open", "R2 dismissed", "R3 fixed", "R4 merged R1"]);
        let mut raised = vec![new("uncertain", "cli/main.rs:2", "Perhaps")];
        raised.extend((3..7).map(|line| defect(&format!("cli/main.rs:{line}"), &format!("Line {line}"))));
        assert_eq!(desk.turn("findings", &judged, &raised), "accepted");
        desk
    }

    /// Folds events as a ledger would, each one second after the one before.
    fn record(&mut self, events: &[Event]) {
        for event in events {
            let json = serde_json::to_string(event).unwrap();
            assert!(!json.contains(":null"), "{json}");
            let seq = self.log.len() as u64 + 1;
            let recorded = Recorded {
                seq,
                ts: at(i64::try_from(seq).unwrap()),
                actor: "operator".parse().unwrap(),
                hash: Digest::of(json.as_bytes()),
                event: serde_json::from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}")),
            };
            assert_eq!(recorded.event, *event);
            Review::evolve(&mut self.state, &recorded);
            self.log.push(recorded);
        }
    }

    pub(crate) fn tries(&mut self, command: Command) -> Result<Vec<Event>, Refusal> {
        let events = Review::decide(&self.state, command, &())?;
        self.record(&events);
        Ok(events)
    }

    /// Carries a command out and gives the last event.
    #[track_caller]
    pub(crate) fn does(&mut self, command: Command) -> Event {
        let shown = format!("{command:?}");
        let mut events = self.tries(command).unwrap_or_else(|refusal| panic!("{shown}: {refusal}"));
        events.pop().unwrap()
    }

    /// The refusal of a command.
    #[track_caller]
    pub(crate) fn refusal(&self, command: Command) -> Refusal {
        let shown = format!("{command:?}");
        match Review::decide(&self.state, command, &()) {
            Ok(events) => panic!("{shown} gives {events:?}"),
            Err(refusal) => refusal,
        }
    }

    /// Writes a file, or takes it away. The fingerprint follows.
    pub(crate) fn edits(&mut self, file: &str, text: Option<&str>) {
        match text {
            Some(text) => self.source.files.insert(path(file), text.to_owned()),
            None => self.source.files.remove(file),
        };
        self.source.changed.insert(path(file));
        self.source.fingerprint = fingerprint(&self.source.files);
    }

    pub(crate) fn text(&self, file: &str) -> String {
        self.source.files[file].clone()
    }

    pub(crate) fn begin_command(&self) -> Command {
        Command::Begin {
            fingerprint: self.source.fingerprint,
            instructions: Digest::of(b"instructions"),
            manifest: None,
            reviewer: None,
            queued: Vec::new(),
        }
    }

    /// A report for the turn that was begun last.
    pub(crate) fn report(&self, status: &str, accounts: &[Value], new: &[Value]) -> Value {
        let turn = self.state.turns().last().unwrap();
        json!({
            "schema": "review-report.v1", "turn": turn.id, "fingerprint": turn.fingerprint, "status": status,
            "summary": "Looked at it.", "accounts": accounts, "new": new,
        })
    }

    /// Hands in a report and tells what came of it. What is refused or ignored changes nothing but the count of refusals.
    #[track_caller]
    pub(crate) fn answers(&mut self, report: &Value) -> String {
        self.answers_bytes(report.to_string().as_bytes())
    }

    #[track_caller]
    pub(crate) fn answers_bytes(&mut self, bytes: &[u8]) -> String {
        let raw = BlobRef::of(bytes);
        let before = self.state.clone();
        let source = Box::new(self.source.clone());
        let command = Command::Submit { bytes: bytes.to_vec(), raw, source };
        let events = self.tries(command).unwrap_or_else(|refusal| panic!("{}: {refusal}", refusal.code()));
        let Some(event) = events.first() else {
            assert_eq!(self.state, before);
            return "ignored".to_owned();
        };
        assert_eq!(events.len(), 1);
        match event {
            Event::ReportAccepted { .. } => "accepted".to_owned(),
            Event::ReportStale { .. } => {
                assert_eq!(all_but_the_turn(&self.state), all_but_the_turn(&before));
                "stale".to_owned()
            }
            Event::ReportRejected { raw: kept, step, code, .. } => {
                assert_eq!(*kept, raw);
                assert_eq!(all_but_the_turn(&self.state), all_but_the_turn(&before));
                let (was, is) = (before.turns().last().unwrap(), self.state.turns().last().unwrap());
                let (rejections, outcome) = (was.rejections + 1, is.outcome.clone());
                assert_eq!(*is, Turn { rejections, outcome, ..was.clone() });
                format!("{step} {code}")
            }
            event => panic!("{event:?}"),
        }
    }

    /// Asks a reviewer who answers this.
    #[track_caller]
    pub(crate) fn turn(&mut self, status: &str, accounts: &[Value], new: &[Value]) -> String {
        self.does(self.begin_command());
        let report = self.report(status, accounts, new);
        self.answers(&report)
    }

    /// What the last report was refused for, each problem in a line.
    pub(crate) fn problems(&self) -> &[String] {
        match self.log.last().map(|recorded| &recorded.event) {
            Some(Event::ReportRejected { problems, .. }) => problems,
            event => panic!("{event:?}"),
        }
    }

    pub(crate) fn finding(&self, finding: &str) -> &Finding {
        self.state.finding(id(finding)).unwrap_or_else(|| panic!("there is no {finding}"))
    }

    /// Standing and kind of every finding.
    pub(crate) fn stands(&self) -> Vec<String> {
        let stand = |it: &Finding| format!("{} {} {}", it.id, it.standing.as_str(), it.kind.as_str());
        self.state.findings().map(stand).collect()
    }

    /// A person decides, for the reason `Because.`
    pub(crate) fn decision(finding: &str, decision: Decision) -> Command {
        Command::Decide { id: id(finding), decision, reason: "Because.".to_owned(), evidence: None }
    }

    /// A result of a check on the present source.
    pub(crate) fn result(&self, scope: Scope, of: &str, name: &str, outcome: CheckOutcome) -> CheckResult {
        let check = check(name);
        CheckResult {
            scope,
            script: check.script([]),
            check,
            finding: matches!(scope, Scope::Baseline | Scope::Final).then(|| id(of)),
            task: (scope == Scope::Task).then(|| of.to_owned()),
            attempt: 1,
            fingerprint: self.source.fingerprint,
            outcome,
            code: None,
            duration_ms: 1,
            output: None,
            tail: String::new(),
        }
    }

    /// Runs a regression check of a finding.
    #[track_caller]
    pub(crate) fn regression(&mut self, of: &str, name: &str, outcome: CheckOutcome) {
        let scope = if self.finding(of).was_attempted() { Scope::Final } else { Scope::Baseline };
        let result = Box::new(self.result(scope, of, name, outcome));
        self.does(Command::RecordCheck { result });
    }

    /// Runs every combined check of the plan.
    pub(crate) fn combined(&mut self, outcome: CheckOutcome) {
        for check in self.state.plan().combined.clone() {
            let mut result = Box::new(self.result(Scope::Combined, "", &check.name, outcome));
            result.check = check;
            self.does(Command::RecordCheck { result });
        }
    }

    pub(crate) fn begin_repair(&self) -> Command {
        Command::BeginRepair { fingerprint: self.source.fingerprint }
    }

    /// A whole pass: each owner edits something of its own.
    #[track_caller]
    pub(crate) fn pass(&mut self) {
        self.does(self.begin_repair());
        while let Some(owner) = self.state.pass_under_way().map(|(_, owner)| owner.to_owned()) {
            self.attempts(&owner);
        }
    }

    #[track_caller]
    pub(crate) fn attempts(&mut self, owner: &str) {
        let before = self.source.fingerprint;
        let file = format!("{}/repaired.rs", if owner == "lib" { "src" } else { owner });
        self.edits(&file, Some(&format!("// {} events\n", self.log.len())));
        self.does(Command::Attempted { before, after: self.source.fingerprint, note: None });
    }

    /// A pass in which the regression checks of these were red before and are green after it.
    #[track_caller]
    pub(crate) fn repairs(&mut self, findings: &[&str]) {
        for finding in findings {
            self.regression(finding, &format!("shows {finding}"), CheckOutcome::Failed);
        }
        self.pass();
        for finding in findings {
            self.regression(finding, &format!("shows {finding}"), CheckOutcome::Passed);
        }
    }

    pub(crate) fn offer(&self) -> Offer {
        next(&self.state, &self.source.fingerprint)
    }

    /// What the outside says, if nothing moved and nobody looked at what was published.
    pub(crate) fn outside(&self) -> Outside<'_> {
        Outside {
            source: &self.source,
            base: Some(BASE),
            request: None,
            published: Published::NotAsked,
            require_coverage: false,
        }
    }

    pub(crate) fn gate(&self) -> Gate {
        gate(&self.state, &self.outside())
    }
}

/// Accounts for every open finding of [`Desk::museum`].
pub(crate) const OPEN: [&str; 6] = ["R1 open", "R6 uncertain", "R7 open", "R8 open", "R9 open", "R10 open"];

/// Everything of a state but its last turn.
fn all_but_the_turn(state: &State) -> String {
    let turn = format!("{:?}", state.turns().last());
    let turn = turn.trim_start_matches("Some(").trim_end_matches(')');
    let shown = format!("{state:?}");
    assert_eq!(shown.matches(turn).count(), 1);
    shown.replace(turn, "")
}

fn fingerprint(files: &BTreeMap<SourcePath, String>) -> Digest {
    let files: BTreeSet<String> = files.iter().map(|(file, text)| format!("{file}\n{text}")).collect();
    Digest::of(format!("{files:?}").as_bytes())
}
