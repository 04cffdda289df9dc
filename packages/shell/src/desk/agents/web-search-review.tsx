// The question before an agent searches the web: exactly what would be sent, and four answers.
import type { WaitingWebSearch, WebSearchAnswer } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { plainMessage } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { nameOf } from '../../apps/installed-apps.ts';
import { Button, Note } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { visibleText } from '../../design/visible-text.ts';
import type { Asked } from '../prompts/ask.tsx';
import { AskerLine, Decision } from '../prompts/parts.tsx';

interface Matter {
  readonly appId: string;
  readonly search: WaitingWebSearch;
}

export function WebSearchReview({ asked }: { readonly asked: Asked & Matter }) {
  const { appId, search } = asked;
  const name = nameOf(appId);
  const saying = useSignal<WebSearchAnswer | null>(null);
  const failure = useSignal<string | null>(null);
  const busy = saying.value !== null;

  async function say(answer: WebSearchAnswer): Promise<void> {
    saying.value = answer;
    try {
      await call('apps.agent.answer', { params: { appId, id: search.id }, body: { answer } });
      asked.answer(true);
    } catch (error) {
      failure.value = plainMessage(error);
      saying.value = null;
    }
  }

  const choice = (answer: WebSearchAnswer, label: string) => (
    <Button busy={saying.value === answer} disabled={busy} onClick={() => void say(answer)}>
      {label}
    </Button>
  );
  return (
    <>
      <AskerLine asker={asked.asker} wants="wants to search the web for:" />
      <div class="prompt-app">
        <span class="prompt-picture neutral">
          <Icon name="search" size={28} />
        </span>
        <h2 id="prompt-title">Search the web?</h2>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard. */}
      <section class="prompt-address search-query" aria-label="What it would search for" tabIndex={0}>
        <strong>{visibleText(search.query)}</strong>
      </section>
      <p>The search engine of this platform gets exactly these words, and no page is opened.</p>
      <p class="quiet-text">
        Words that {name} took from your apps may be among them. Search only if you may tell a stranger.
      </p>
      <div class="search-choices">
        {choice('session', 'Allow in this session')}
        {choice('always', `Always allow for ${name}`)}
      </div>
      {failure.value !== null && <Note tone="danger">{failure.value}</Note>}
      <Decision
        no="Don’t search"
        yes="Search once"
        busy={saying.value === 'once'}
        disabled={busy}
        onNo={() => asked.answer(false)}
        onYes={() => void say('once')}
      />
    </>
  );
}
