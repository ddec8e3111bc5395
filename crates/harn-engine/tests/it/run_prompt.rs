//! What an agent reads: the script's prompt, byte for byte, and nothing else.

use std::fs;

use harn_workflow::run::Event;
use serde_json::json;

use crate::attempt_fixture::{Attempt, Project};

#[test]
fn an_agent_reads_exactly_what_the_script_wrote() {
    // More than a script file may hold, so the script makes it itself.
    let long = "ñ界😀\n".repeat(110_000);
    let prompts = [
        "plain",
        "--help",
        "-",
        "  spaces at both ends \n\n",
        "line\r\nline\ttab \u{1b}[31m \u{7f}\u{0001}",
        "\"quotes\" 'single' `back` $HOME $(id) \\ \\n %s !x ~ *",
        "ñ 界 😀 \u{feff}\u{202e}\u{200b} e\u{301}",
    ];
    let project = Project::new();
    project.write("prompts.mjs", &format!("export default {};", json!(prompts)));
    let id = project.item_with(
        "import prompts from './prompts.mjs';
         export default ({agent, parallel}) => {
             prompts.push('ñ界😀\\n'.repeat(110000));
             return parallel(prompts.map((prompt) => () => agent(prompt)));
         };",
        |draft| draft.acceptance = vec!["a text that is in no prompt".to_owned()],
    );
    let report = Attempt::of(&project, &id).agent("cat >$HARN_AGENT_ID.read").run().unwrap();
    let transcript = project.transcript(&report.run_id);
    for (index, prompt) in prompts.into_iter().chain([&*long]).enumerate() {
        let read = fs::read(project.cwd().join(format!("a{}.read", index + 1))).unwrap();
        assert!(read == prompt.as_bytes(), "prompt {index} was changed on its way");
        let recorded = transcript.iter().find_map(|recorded| match &recorded.event {
            Event::AgentStarted { id, prompt, .. } if id.to_string() == format!("a{}", index + 1) => {
                Some(prompt)
            }
            _ => None,
        });
        assert!(
            project.bytes(recorded.unwrap()) == prompt.as_bytes(),
            "prompt {index} was recorded as another one"
        );
    }
}

#[test]
fn an_agent_that_does_not_read_its_prompt_is_no_failure() {
    let project = Project::new();
    let report = project.run("export default ({agent}) => agent('x'.repeat(1 << 20));", "exec echo done");
    assert_eq!(project.result(&report.run_id), "done");
}
