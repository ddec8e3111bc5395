//! Watches over one running command until nothing of it is left.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::group::Group;
use super::processes::{self, Process};
use super::pump::Pump;
use super::wake::{Wake, Waker};
use super::{Cancel, CommandSpec, Exit, Finished, Outcome};

/// How long the other processes of a group may take to end by themselves once the program has exited. A
/// `tee` at the end of a pipe needs a moment.
const SETTLE: Duration = Duration::from_millis(200);

/// The longest grace, so that every command comes to an end.
const LONGEST_GRACE: Duration = Duration::from_secs(3600);

/// How long `KILL` may take. A process inside an uninterruptible system call takes longer.
const KILL_LIMIT: Duration = Duration::from_secs(2);

/// How long the outputs may stay open once the group is gone.
const DRAIN: Duration = Duration::from_millis(500);

/// The first and the longest pause between two looks at who is left of a group.
const LOOKS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(100));

/// Where a command is on its way. Each phase but the first has an end.
#[derive(Debug, Clone, Copy)]
enum Phase {
    /// The program runs, without an end if it has no time limit.
    Running { until: Option<Instant> },
    /// The program has exited; others of its group may be about to.
    Settling { until: Instant },
    /// The group got `TERM`.
    Terminating { until: Instant },
    /// The group got `KILL`.
    Killing { until: Instant },
    /// The group is gone; its outputs come to their end unless somebody else holds them.
    Draining { until: Instant },
    /// Nothing more is waited for.
    Done,
}

pub(super) struct Supervisor<'a> {
    spec: &'a CommandSpec,
    cancel: &'a Cancel,
    group: Group,
    pump: Pump<'a>,
    wake: Wake,
    /// Kept so that the other end never sees the pipe closed, which would wake it for ever.
    _waker: Arc<Waker>,
    phase: Phase,
    /// Why we ended the program, if we did.
    ended: Option<Outcome>,
    leftovers: Vec<Process>,
    members: Vec<Process>,
    next_look: Instant,
    pause: Duration,
}

impl<'a> Supervisor<'a> {
    pub(super) fn new(
        spec: &'a CommandSpec,
        cancel: &'a Cancel,
        group: Group,
        pump: Pump<'a>,
        (wake, waker): (Wake, Arc<Waker>),
    ) -> Self {
        let now = Instant::now();
        Self {
            spec,
            cancel,
            group,
            pump,
            wake,
            _waker: waker,
            phase: Phase::Running { until: spec.timeout.and_then(|limit| now.checked_add(limit)) },
            ended: None,
            leftovers: Vec::new(),
            members: Vec::new(),
            next_look: now,
            pause: LOOKS.0,
        }
    }

    /// Stays with the command to its end. `since` is when the call that runs it began.
    pub(super) fn finish(mut self, since: Instant) -> Finished {
        while !matches!(self.phase, Phase::Done) {
            if let Some(next) = self.next_phase(Instant::now()) {
                self.phase = next;
            } else {
                let until = self.wait_until();
                self.pump.wait(&self.wake, until);
                self.wake.clear();
                self.pump.turn();
            }
        }
        self.pump.drain();
        let open = self.pump.open_outputs();
        let mut survivors = self.members;
        if !open.is_empty() {
            let holders = processes::holding(&open).into_iter();
            survivors.extend(holders.filter(|holder| !survivors.contains(holder)).collect::<Vec<_>>());
        }
        let exit = self.group.finish();
        let (stdout, stderr) = self.pump.finish();
        Finished {
            outcome: self.ended.unwrap_or(match exit {
                Some(Exit::Code(0)) => Outcome::Passed,
                _ => Outcome::Failed,
            }),
            exit,
            start_error: None,
            elapsed: since.elapsed(),
            stdout,
            stderr,
            leftovers: self.leftovers,
            output_open: !open.is_empty(),
            survivors,
        }
    }

    fn next_phase(&mut self, now: Instant) -> Option<Phase> {
        let phase = self.phase;
        match phase {
            // The exit is looked at first: a program that made it in time is not called late or stopped.
            Phase::Running { .. } if self.group.exited() => Some(Phase::Settling { until: now + SETTLE }),
            Phase::Running { .. } if self.cancel.is_cancelled() => Some(self.end_as(Outcome::Stopped, now)),
            Phase::Running { until } => {
                until.is_some_and(|until| until <= now).then(|| self.end_as(Outcome::Timeout, now))
            }
            Phase::Settling { until } if self.is_gone(now, until) => Some(self.drain(now)),
            Phase::Settling { until } => (until <= now).then(|| {
                self.leftovers.clone_from(&self.members);
                self.terminate(now)
            }),
            Phase::Terminating { until } if self.is_gone(now, until) => Some(self.drain(now)),
            Phase::Terminating { until } => (until <= now).then(|| {
                self.group.kill();
                self.look_again_from(now);
                Phase::Killing { until: now + KILL_LIMIT }
            }),
            Phase::Killing { until } => (self.is_gone(now, until) || until <= now).then(|| self.drain(now)),
            Phase::Draining { until } => {
                (until <= now || self.pump.open_outputs().is_empty()).then_some(Phase::Done)
            }
            Phase::Done => None,
        }
    }

    fn end_as(&mut self, outcome: Outcome, now: Instant) -> Phase {
        self.ended = Some(outcome);
        self.terminate(now)
    }

    fn terminate(&mut self, now: Instant) -> Phase {
        self.group.terminate();
        self.look_again_from(now);
        Phase::Terminating { until: now + self.spec.grace.min(LONGEST_GRACE) }
    }

    fn drain(&mut self, now: Instant) -> Phase {
        // Who is left is not read at one instant, and on some systems not at all: a process that was missed
        // ends here.
        self.group.kill();
        self.pump.close_input();
        Phase::Draining { until: now + DRAIN }
    }

    /// Whether the program and all others of its group have exited. Who is left is looked up from time to time
    /// once the program has exited, and at `until` in any case.
    fn is_gone(&mut self, now: Instant, until: Instant) -> bool {
        let exited = self.group.exited();
        if now < until && (!exited || now < self.next_look) {
            return false;
        }
        self.next_look = now + self.pause;
        self.pause = LOOKS.1.min(self.pause * 2);
        self.members = self.group.members();
        exited && self.members.is_empty()
    }

    fn look_again_from(&mut self, now: Instant) {
        self.next_look = now;
        self.pause = LOOKS.0;
    }

    fn wait_until(&mut self) -> Option<Instant> {
        match self.phase {
            Phase::Running { until } => until,
            Phase::Settling { until } | Phase::Terminating { until } | Phase::Killing { until } => {
                Some(if self.group.exited() { until.min(self.next_look) } else { until })
            }
            Phase::Draining { until } => Some(until),
            Phase::Done => None,
        }
    }
}
