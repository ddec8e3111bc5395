//! `ctx.agent(prompt, options)`: what the script asks of an agent.

use rquickjs::Value;

use super::fields::{Fields, Read, exact};

/// The most characters of an adapter, model, effort or label.
const NAME_LIMIT: usize = 200;

const OPTIONS: [&str; 6] = ["adapter", "model", "effort", "label", "maxTurns", "timeoutMs"];

/// One agent that the script wants to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCall {
    /// The prompt, byte for byte as the script gave it; never blank.
    pub prompt: String,
    /// The adapter's name, 1 to 200 characters; absent for the run's default.
    pub adapter: Option<String>,
    /// The vendor's model name, 1 to 200 characters.
    pub model: Option<String>,
    /// The vendor's effort level, 1 to 200 characters.
    pub effort: Option<String>,
    /// A name for people, 1 to 200 characters; longer labels are cut.
    pub label: Option<String>,
    /// The most turns the agent may take, 1 to 1,000.
    pub max_turns: Option<u32>,
    /// The most time it may take in milliseconds, 1 to 86,400,000 (a day).
    pub timeout_ms: Option<u32>,
}

impl AgentCall {
    /// A call with this prompt and no options.
    #[must_use]
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            adapter: None,
            model: None,
            effort: None,
            label: None,
            max_turns: None,
            timeout_ms: None,
        }
    }

    pub(super) fn read(prompt: &Value<'_>, options: &Value<'_>) -> Read<Self> {
        const PLACE: &str = "options of agent()";
        let mut call = Self::new(exact("agent()", "prompt", prompt)?);
        if options.is_undefined() {
            return Ok(call);
        }
        let unsupported = ["schema", "role", "maxAttempts"];
        let options = Fields::with_unsupported(PLACE, options, &OPTIONS, &unsupported)?;
        call.adapter = options.text("adapter", NAME_LIMIT)?;
        call.model = options.text("model", NAME_LIMIT)?;
        call.effort = options.text("effort", NAME_LIMIT)?;
        call.label = options.label("label", NAME_LIMIT)?;
        call.max_turns = options.whole("maxTurns", 1..=1_000)?;
        call.timeout_ms = options.whole("timeoutMs", 1..=86_400_000)?;
        Ok(call)
    }
}
