// What the agent proposed, and what became of it. The person decides on the platform's own surface, never here.
import { type App, PlatformError } from '@platform/sdk/browser';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { messageOf } from '../../shared/use-loaded.ts';
import type { ToolItem } from './thread.ts';

type Proposal = NonNullable<ToolItem['proposal']>;

const WORDS: Readonly<Record<string, readonly [text: string, tone: string]>> = {
  executed: ['You approved it, and it was done.', 'good'],
  failed: ['You approved it, and it failed.', 'danger'],
  declined: ['You declined it. Nothing was done.', ''],
  expired: ['Nobody decided in time. Nothing was done.', ''],
  // The platform keeps them for a day.
  gone: ['It was decided on, withdrawn or expired. The platform keeps no more of it.', ''],
};
const UNKNOWN = ['Its state is one that this app does not know. Settings → Tools has what became of it.', ''] as const;
const MISSING = ['not_found', 'grant_missing'];

export function ProposalLine({ app, proposal }: { readonly app: App; readonly proposal: Proposal }) {
  const { id } = proposal;
  const [state, setState] = useState<string>();
  const [problem, setProblem] = useState<string>();

  const learn = useCallback(
    async (from: 'mcp.proposalState' | 'mcp.reviewProposal') => {
      try {
        setState((await app.bridge.call(from, { id })).state);
        setProblem(undefined);
      } catch (error) {
        if (error instanceof PlatformError && MISSING.includes(error.code)) setState('gone');
        else setProblem(messageOf(error));
      }
    },
    [app, id],
  );
  const look = useCallback(() => void learn('mcp.proposalState'), [learn]);

  const isOpen = state === undefined || state === 'pending';
  useEffect(() => {
    if (!isOpen) return undefined;
    look();
    // It may have been decided on elsewhere meanwhile.
    window.addEventListener('focus', look);
    return () => window.removeEventListener('focus', look);
  }, [isOpen, look]);

  const words = isOpen ? undefined : (WORDS[state] ?? UNKNOWN);
  return (
    <div class="decision" role="status">
      {state === undefined && (
        <p class="quiet">
          {problem === undefined
            ? 'Looking what became of this proposal…'
            : 'What became of this proposal is not known now.'}
        </p>
      )}
      {state === 'pending' && (
        <>
          <p>It waits for your decision. Nothing was done yet.</p>
          <button type="button" class="primary" onClick={() => void learn('mcp.reviewProposal')}>
            Decide
          </button>
        </>
      )}
      {words !== undefined && <p class={`proposal-${words[1]}`}>{words[0]}</p>}
      <Failure text={problem} />
      {problem !== undefined && (
        <button type="button" onClick={look}>
          Look again
        </button>
      )}
    </div>
  );
}
