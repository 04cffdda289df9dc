// What the agent proposed, and what became of it. The person decides on the platform's own surface, never here.
import type { App } from '@platform/sdk/browser';
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
  gone: ['It was decided on, or expired.', ''],
};

export function ProposalLine({ app, proposal }: { readonly app: App; readonly proposal: Proposal }) {
  const { id } = proposal;
  const [state, setState] = useState<string>();
  const [problem, setProblem] = useState<string>();

  const look = useCallback(async () => {
    try {
      setState((await app.bridge.call('mcp.proposalState', { id })).state);
    } catch {
      // It is shown as it was last known; the button says what is the matter.
    }
  }, [app, id]);

  const isOpen = state === undefined || state === 'pending';
  useEffect(() => {
    if (!isOpen) return undefined;
    void look();
    // It may have been decided on elsewhere meanwhile.
    window.addEventListener('focus', look);
    return () => window.removeEventListener('focus', look);
  }, [isOpen, look]);

  async function decide(): Promise<void> {
    setProblem(undefined);
    try {
      setState((await app.bridge.call('mcp.reviewProposal', { id })).state);
    } catch (error) {
      setProblem(messageOf(error));
    }
  }

  const words = state === undefined ? undefined : WORDS[state];
  return (
    <div class="decision" role="status">
      {state === 'pending' && (
        <>
          <p>It waits for your decision. Nothing was done yet.</p>
          <button type="button" class="primary" onClick={() => void decide()}>
            Decide
          </button>
        </>
      )}
      {words !== undefined && <p class={`proposal-${words[1]}`}>{words[0]}</p>}
      <Failure text={problem} />
    </div>
  );
}
