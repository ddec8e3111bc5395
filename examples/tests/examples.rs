//! Every example program runs and ends well.
#![allow(unreachable_pub, reason = "an example is a program; its `main` is called here")]

#[path = "../bank_account.rs"]
mod bank_account;
#[path = "../bounded_command.rs"]
mod bounded_command;
#[path = "../harn_inside.rs"]
mod harn_inside;
#[path = "../job_queue.rs"]
mod job_queue;
#[path = "../review_gate.rs"]
mod review_gate;
#[path = "../scripted_attempt.rs"]
mod scripted_attempt;
#[path = "../verify_received.rs"]
mod verify_received;
#[path = "../work_item.rs"]
mod work_item;

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[test]
fn bank_account_runs() -> Outcome {
    bank_account::main()
}

#[test]
fn job_queue_runs() -> Outcome {
    job_queue::main()
}

#[test]
fn verify_received_runs() -> Outcome {
    verify_received::main()
}

#[test]
fn work_item_runs() -> Outcome {
    work_item::main()
}

#[test]
fn bounded_command_runs() -> Outcome {
    bounded_command::main()
}

#[test]
fn scripted_attempt_runs() -> Outcome {
    scripted_attempt::main()
}

#[test]
fn harn_inside_runs() -> Outcome {
    harn_inside::main()
}

#[test]
fn review_gate_runs() -> Outcome {
    review_gate::main()
}
