//! Small workflow scripts.

/// Passes its only criterion without starting anything.
pub const PASS: &str = r#"
export const meta = { acceptance: [{ id: "suite", statement: "The suite passes" }] };
export default async ({ evidence }) => {
  evidence({ kind: "test", status: "passed", label: "suite", acceptanceIds: ["suite"] });
};
"#;

/// Returns what it is told about the work and the attempt.
pub const CONTEXT: &str = "export default async ({ work, attempt }) => ({ work, attempt });\n";

/// Returns the reply of one agent, whose prompt is the objective.
pub const AGENT: &str = r#"
export default async ({ agent, work }) => agent(work.objective, { label: "writer" });
"#;

/// Fails by an exception.
pub const FAIL: &str = "export default async () => { throw new Error('no good'); };\n";

/// Has one criterion and satisfies it only in a retry. Returns what it is told about the attempt.
pub const RETRIED: &str = r#"
export const meta = { acceptance: [{ id: "a", statement: "It holds" }] };
export default async ({ attempt, evidence }) => {
  if (attempt.trigger === "retry") {
    evidence({ kind: "test", status: "passed", label: "again", acceptanceIds: ["a"] });
  }
  return attempt;
};
"#;

/// Asks for a decision.
pub const BLOCKED: &str = r#"
export default async ({ blocked }) => blocked({ reason: "Which region?", decision: "region" });
"#;
