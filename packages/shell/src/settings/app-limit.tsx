// What an app used of AI models this month, and the limit its owner sets within the operator's.
import type { AppIntelligence } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { ApiError, plainMessage } from '../api/api-error.ts';
import { call } from '../api/client.ts';
import { Button, Note } from '../design/controls.tsx';
import { tokens, wholeNumber } from './ai-words.ts';
import { useAction } from './reading.ts';

interface AppLimitProps {
  readonly appId: string;
  readonly name: string;
  readonly intelligence: AppIntelligence;
  readonly onChanged: (next: AppIntelligence) => void;
}

export function AppLimit({ appId, name, intelligence, onChanged }: AppLimitProps) {
  const { limits, usage } = intelligence;
  const isEditing = useSignal(false);
  const field = useId();
  const text = useSignal('');
  const problem = useSignal<string | null>(null);
  const { busy, failure, run } = useAction();

  async function save(monthlyTokens: number | null): Promise<void> {
    const saved = await run(async () => {
      problem.value = null;
      try {
        onChanged(await call('apps.intelligence.limit', { params: { appId }, body: { monthlyTokens } }));
      } catch (error) {
        const wrong = error instanceof ApiError ? error.fields[0] : undefined;
        if (wrong === undefined) throw error;
        const most = Number(/\d+$/.exec(wrong.message)?.[0]);
        problem.value = Number.isNaN(most)
          ? plainMessage(error)
          : `The operator allows at most ${tokens(most)} a month. Enter that or less.`;
      }
    });
    if (saved && problem.value === null) isEditing.value = false;
  }

  function saveTyped(): void {
    const amount = wholeNumber(text.value);
    if (amount === null) problem.value = 'Enter a whole number of tokens, such as 100,000.';
    else void save(amount);
  }

  return (
    <>
      <p>
        {usage.tokens.toLocaleString('en')} of {tokens(limits.monthlyTokens)} used this month
        {usage.reserved > 0 && `, ${usage.reserved.toLocaleString('en')} more reserved for calls under way`}
      </p>
      <div class="storage-bar" aria-hidden="true">
        <span style={{ inlineSize: `${Math.min(100, (100 * usage.tokens) / Math.max(1, limits.monthlyTokens))}%` }} />
      </div>
      {usage.tokens >= limits.monthlyTokens && (
        <Note tone="warning">The platform refuses further AI calls of {name} until next month.</Note>
      )}
      {isEditing.value ? (
        <form
          class="limit-form"
          onSubmit={(event) => {
            event.preventDefault();
            saveTyped();
          }}
        >
          <div>
            <label for={field}>Tokens a month for {name}</label>
            <input
              ref={(element) => {
                if (element !== null && document.activeElement === document.body) element.focus();
              }}
              id={field}
              type="text"
              inputMode="numeric"
              autocomplete="off"
              maxLength={24}
              value={text.value}
              aria-invalid={problem.value !== null}
              aria-describedby={`${field}-problem`}
              onInput={(event) => (text.value = event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === 'Escape') isEditing.value = false;
              }}
            />
            <p id={`${field}-problem`} class="field-help wrong" role="alert">
              {problem.value}
            </p>
          </div>
          {failure !== null && <Note tone="danger">{failure}</Note>}
          <div class="buttons">
            <Button kind="primary" busy={busy} onClick={saveTyped}>
              {busy ? 'Saving …' : 'Save'}
            </Button>
            <Button disabled={busy} onClick={() => void save(null)}>
              Use the operator’s limit
            </Button>
            <Button kind="quiet" onClick={() => (isEditing.value = false)}>
              Cancel
            </Button>
          </div>
        </form>
      ) : (
        <div class="buttons">
          <Button
            icon="pencil"
            onClick={() => {
              text.value = limits.monthlyTokens.toLocaleString('en');
              problem.value = null;
              isEditing.value = true;
            }}
          >
            Change the limit<span class="only-read"> of {name}</span>
          </Button>
        </div>
      )}
    </>
  );
}
