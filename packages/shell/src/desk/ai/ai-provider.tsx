// One AI provider: its models, the account's own key, which is written and never read, and whose key is used.
import type { AccountProvider } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useCallback, useId } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/reading.ts';
import { Button, Note } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { useKeptFocus } from '../../design/keep-focus.ts';
import { count } from '../../design/words.ts';
import { dropDraft, hasDraft, useDraft } from '../../session/drafts.ts';
import { sourceInWords } from './ai-words.ts';

interface ProviderRowProps {
  readonly provider: AccountProvider;
  readonly again: () => Promise<void>;
}

export function ProviderRow({ provider, again }: ProviderRowProps) {
  const draftKey = `ai-key ${provider.provider}`;
  const mode = useSignal<'shown' | 'typing' | 'removing'>(hasDraft(draftKey) ? 'typing' : 'shown');
  const row = useKeptFocus<HTMLLIElement>(mode.value);
  const { busy, failure, run } = useAction();
  const { name, keySet, platformKey, source, models } = provider;
  const params = { provider: provider.provider };

  async function change(work: () => Promise<unknown>): Promise<void> {
    const done = await run(async () => {
      await work();
      await again();
    });
    if (!done) return;
    dropDraft(draftKey);
    mode.value = 'shown';
  }

  return (
    <li class="row stacked" ref={row}>
      <div class="row-main">
        <span class="row-icon">
          <Icon name="ai" />
        </span>
        <span class="row-text">
          <span class="row-title">
            {name}
            {source === null && <span class="tag warning">No key</span>}
          </span>
          <span class="row-about">{sourceInWords(provider)}</span>
        </span>
      </div>
      {models.length > 0 && (
        <details class="narrower">
          <summary>{count(models.length, 'model')}</summary>
          <ul class="ai-model-list">
            {models.map(({ id }) => (
              <li key={id}>{id}</li>
            ))}
          </ul>
        </details>
      )}
      {keySet && platformKey && (
        <fieldset class="segments" disabled={busy}>
          <legend class="only-read">Whose key is used for {name}</legend>
          {(['account', 'platform'] as const).map((choice) => (
            <label key={choice}>
              <input
                type="radio"
                name={`source-${provider.provider}`}
                checked={source === choice}
                onChange={() =>
                  void change(() => call('account.intelligence.chooseSource', { params, body: { source: choice } }))
                }
              />
              <span>{choice === 'account' ? 'Your key' : 'The platform’s key'}</span>
            </label>
          ))}
        </fieldset>
      )}
      {mode.value === 'typing' && (
        <KeyForm
          name={name}
          draftKey={draftKey}
          busy={busy}
          onSave={(key) => void change(() => call('account.intelligence.setKey', { params, body: { key } }))}
          onCancel={() => (mode.value = 'shown')}
        />
      )}
      {mode.value === 'removing' && (
        <section class="row-question" aria-label={`Remove your key for ${name}?`}>
          <p>
            Remove your key for {name}?{' '}
            {platformKey ? 'Your apps then use the platform’s key.' : 'Your apps then can’t use this provider.'}
          </p>
          <div class="buttons">
            <Button onClick={() => (mode.value = 'shown')}>Keep it</Button>
            <Button
              kind="danger"
              busy={busy}
              onClick={() => void change(() => call('account.intelligence.deleteKey', { params }))}
            >
              Remove
            </Button>
          </div>
        </section>
      )}
      {mode.value === 'shown' && (
        <div class="buttons">
          <Button icon={keySet ? 'pencil' : 'plus'} onClick={() => (mode.value = 'typing')}>
            {keySet ? 'Replace your key' : 'Add your key'}
            <span class="only-read"> for {name}</span>
          </Button>
          {keySet && (
            <Button icon="trash" onClick={() => (mode.value = 'removing')}>
              Remove your key<span class="only-read"> for {name}</span>
            </Button>
          )}
        </div>
      )}
      {failure !== null && <Note tone="danger">{failure}</Note>}
    </li>
  );
}

interface KeyFormProps {
  readonly name: string;
  readonly draftKey: string;
  readonly busy: boolean;
  readonly onSave: (key: string) => void;
  readonly onCancel: () => void;
}

function KeyForm({ name, draftKey, busy, onSave, onCancel }: KeyFormProps) {
  const field = useId();
  const key = useDraft(draftKey, '', { secret: true });
  const problem = useSignal<string | null>(null);
  const focusOnce = useCallback((element: HTMLInputElement | null) => element?.focus(), []);

  function save(): void {
    const typed = key.value.trim();
    // As the contract says; checked here because its words are about the request, not about this field.
    const isKey = /^[\x21-\x7e]+$/.test(typed);
    problem.value = isKey ? null : 'Paste the key as the provider shows it: one word without spaces.';
    if (isKey && !busy) onSave(typed);
  }

  return (
    <form
      class="limit-form"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <div>
        <label for={field}>API key for {name}</label>
        <input
          ref={focusOnce}
          id={field}
          type="password"
          autocomplete="off"
          spellcheck={false}
          maxLength={1_024}
          value={key.value}
          aria-invalid={problem.value !== null}
          aria-describedby={`${field}-help`}
          onInput={(event) => key.put(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape' && !key.isChanged) onCancel();
          }}
        />
        <p id={`${field}-help`} class={`field-help${problem.value === null ? '' : ' wrong'}`} role="status">
          {problem.value ?? 'Stored encrypted. It can’t be shown again, and apps use it without seeing it.'}
        </p>
      </div>
      <div class="buttons">
        <Button kind="primary" busy={busy} onClick={save}>
          {busy ? 'Saving …' : 'Save the key'}
        </Button>
        <Button
          kind="quiet"
          disabled={busy}
          onClick={() => {
            key.drop();
            onCancel();
          }}
        >
          Cancel
        </Button>
      </div>
    </form>
  );
}
