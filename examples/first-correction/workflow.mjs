// One agent writes a small program, one command checks it. The script decides what the agent reads: the objective, and
// what an operator found wrong with an earlier attempt.
export const meta = {
  name: "first-correction",
  objective: "Write a bounded writer",
  acceptance: [{ id: "suite", statement: "The test suite passes" }],
};

export default async ({ work, attempt, agent, check, stage, log }) => {
  stage("write");
  const findings = (attempt.findings ?? []).map(({ id, statement }) => `Finding ${id}: ${statement}`);
  log(`attempt ${attempt.number}, open findings: ${findings.length}`);
  const reply = await agent([work.objective, ...work.acceptance, ...findings].join("\n"), { label: "writer" });

  stage("check");
  const suite = await check({ name: "test suite", argv: ["sh", "suite.sh"], acceptanceIds: ["suite", "item.1"] });
  return { reply, suite: suite.outcome };
};
