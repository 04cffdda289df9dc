// Why the agent cannot answer, or did not: what the person can do, and what the operator of the platform can.
import type { AgentProblem } from '@platform/sdk/browser';
import type { ComponentChildren } from 'preact';

interface ProblemCardProps {
  readonly problem: AgentProblem;
  readonly children?: ComponentChildren;
}

/** Problems that are there before anything was asked. */
const FIRST: Readonly<Record<string, string>> = {
  no_provider: 'Your agent needs an AI provider',
  no_model: 'Your agent needs an AI model',
};

export function ProblemCard({ problem, children }: ProblemCardProps) {
  return (
    <section class="card problem stack" aria-label="What is missing">
      <h3>{FIRST[problem.code] ?? 'This did not work'}</h3>
      <p>{problem.message}</p>
      {problem.operator !== undefined && (
        <details>
          <summary>If you run this platform</summary>
          <p>{problem.operator}</p>
        </details>
      )}
      {children}
    </section>
  );
}
