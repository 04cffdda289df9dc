// The question whether a proposed call of a tool is made: who proposes it, which tool it is, and with exactly which arguments.
import type { ShownProposal } from '@platform/contract';
import { isLoopbackHost } from '@platform/contract/tool-scopes';
import { useSignal } from '@preact/signals';
import { ApiError, plainMessage } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { Note } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { visibleText } from '../../design/visible-text.ts';
import { confirmWithPasskey } from '../../session/confirm.ts';
import { type Failure, failureOf } from '../../session/failure.ts';
import { type Asked, ask, carriedOut, prompt } from '../prompts/ask.tsx';
import { Decision } from '../prompts/parts.tsx';
import { ScrollBox } from '../prompts/scroll-box.tsx';
import { shortHost } from '../prompts/short-host.ts';
import { showToast } from '../toasts/toasts.ts';
import { ArgumentList } from './argument-list.tsx';
import { followProposals } from './pending-proposals.ts';
import { answerOf, summaryOf } from './proposal-words.ts';

/** Reads the proposal and asks. One that is decided already is shown in a message. */
export async function askAboutProposal(id: string): Promise<void> {
  try {
    const { proposal } = await call('account.proposals.read', { params: { id } });
    if (proposal.state !== 'pending') say(proposal);
    else if (prompt.value !== null) showToast({ title: 'Another question is open', body: 'Answer it first.' });
    else if (!(await ask(ProposalReview, null, { proposal }))) await followProposals();
  } catch (error) {
    const isGone = error instanceof ApiError && error.status === 404;
    showToast({
      title: 'There is nothing to decide',
      body: isGone ? 'The proposal is no longer there, or belongs to another account.' : plainMessage(error),
      tone: 'danger',
    });
  }
}

function say(proposal: ShownProposal): void {
  const what = summaryOf(proposal);
  if (proposal.state === 'executed') showToast({ title: 'Done', body: what, tone: 'success' });
  else if (proposal.state === 'failed')
    showToast({ title: `${what} failed`, body: answerOf(proposal.result), tone: 'danger' });
  else if (proposal.state === 'pending') showToast({ title: 'Still at work', body: `${what}. See Settings, Tools.` });
  else showToast({ title: proposal.state === 'expired' ? 'It has expired' : 'It was declined', body: what });
}

function ProposalReview({ asked }: { readonly asked: Asked & { readonly proposal: ShownProposal } }) {
  const { proposal, answer } = asked;
  const { id, argumentsHash, app, callerName, callerHost, confirms, description, tool } = proposal;
  const working = useSignal<'approving' | 'declining' | null>(null);
  const failure = useSignal<Failure | null>(null);

  async function decide(how: 'approving' | 'declining', work: () => Promise<{ proposal: ShownProposal }>) {
    working.value = how;
    failure.value = null;
    try {
      const { proposal: decided } = await work();
      carriedOut.value = true;
      answer(how === 'approving');
      if (how === 'approving') say(decided);
    } catch (error) {
      failure.value = failureOf(error);
    }
    working.value = null;
    await followProposals();
  }

  const approve = () =>
    decide('approving', async () => {
      const confirmation = confirms ? { confirmation: await confirmWithPasskey('tools.approve', id) } : {};
      return call('account.proposals.approve', { params: { id }, body: { argumentsHash, ...confirmation } });
    });
  const decline = () => decide('declining', () => call('account.proposals.decline', { params: { id } }));

  return (
    <>
      <div class="prompt-app">
        <span class="prompt-picture neutral">
          <Icon name="tool" size={28} />
        </span>
        <div>
          <h2 id="prompt-title">{summaryOf(proposal)}?</h2>
          <p class="prompt-publisher">
            <span>
              {callerHost === null ? visibleText(callerName) : `“${visibleText(callerName)}”, as it calls itself,`}{' '}
              proposes it
            </span>
            {callerHost !== null && (
              <span>{isLoopbackHost(callerHost) ? 'A program on a computer of yours' : shortHost(callerHost)}</span>
            )}
          </p>
        </div>
      </div>
      <ScrollBox label="What is done, and with what">
        <ArgumentList given={proposal.arguments} />
        <dl class="tool-about">
          <dt>Tool</dt>
          <dd>
            <code>{tool}</code>
          </dd>
          {description !== null && (
            <>
              <dt>{app === null ? 'What it does' : `${app.name} says of it`}</dt>
              <dd class="tool-words">{visibleText(description)}</dd>
            </>
          )}
        </dl>
        {confirms && app !== null && (
          <Note tone="warning">{app.name} says that this tool can delete something, or acts outside the platform.</Note>
        )}
        {app === null && confirms && <Note tone="warning">This speaks to others in your name.</Note>}
      </ScrollBox>
      {confirms && <p class="quiet-text">You confirm with your passkey.</p>}
      {failure.value !== null && <Note tone={failure.value.tone}>{failure.value.text}</Note>}
      <Decision
        no={working.value === 'declining' ? 'Declining …' : 'Decline'}
        yes={working.value === 'approving' ? 'Doing it …' : 'Approve'}
        busy={working.value !== null}
        onNo={() => void decline()}
        onYes={() => void approve()}
      />
    </>
  );
}
