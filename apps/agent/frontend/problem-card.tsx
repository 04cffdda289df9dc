// Why the agent cannot answer, or did not: what the person can do, and what the operator of the platform can.
import type { AgentProblem, App } from '@platform/sdk/browser';
import { useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { messageOf } from '../../shared/use-loaded.ts';

/** Problems that are there before anything was asked. */
const FIRST: Readonly<Record<string, string>> = {
  no_provider: 'Your agent needs an AI provider',
  no_model: 'Your agent needs an AI model',
};
/** Those that the person may solve in Settings, AI: by a key of their own, or a larger budget. */
const IN_SETTINGS = [
  'no_provider',
  'no_model',
  'not_authorized',
  'key_refused',
  'placement_not_allowed',
  'budget_exhausted',
];

export function ProblemCard({ app, problem }: { readonly app: App; readonly problem: AgentProblem }) {
  const [failure, setFailure] = useState<string>();
  const openSettings = () =>
    void app.bridge.call('chrome.set', { surface: 'ai' }).catch((error: unknown) => setFailure(messageOf(error)));
  return (
    <article class="card problem stack">
      <h2>{FIRST[problem.code] ?? 'This did not work'}</h2>
      <p>{problem.message}</p>
      {problem.operator !== undefined && (
        <details>
          <summary>If you run this platform</summary>
          <p>{problem.operator}</p>
        </details>
      )}
      {IN_SETTINGS.includes(problem.code) && (
        <button type="button" onClick={openSettings}>
          Open Settings → AI
        </button>
      )}
      <Failure text={failure} />
    </article>
  );
}
