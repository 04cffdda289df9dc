// The form of a provider. Its key is only ever sent.
import type { OperatorSettings } from '@platform/contract';
import { subjectOfProvider } from '@platform/contract/setting-subjects';
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { Button, Note } from '../../design/controls.tsx';
import { bodyOf, type DraftField, type Problems, type ProviderDraft, problemsIn } from './provider-draft.ts';
import { useConfirmed } from './use-confirmed.ts';

interface ProviderFormProps {
  readonly title: string;
  readonly draft: ProviderDraft;
  readonly settings: OperatorSettings;
  readonly isNew: boolean;
  readonly onSaved: (next: OperatorSettings) => void;
  readonly onCancel: () => void;
}

export function ProviderForm({ title, draft: first, settings, isNew, onSaved, onCancel }: ProviderFormProps) {
  const draft = useSignal(first);
  const problems = useSignal<Problems>({});
  const removesKey = useSignal(false);
  const { busy, failure, run } = useConfirmed();
  const id = useId();
  const known = isNew
    ? undefined
    : settings.providers.find(({ provider, source }) => provider === first.id && source === 'fleet');
  const hasKey = known?.keySet === true;
  const moves = known !== undefined && originOf(draft.value.baseUrl) !== originOf(known.baseUrl);

  function put(part: Partial<ProviderDraft>): void {
    draft.value = { ...draft.value, ...part };
  }

  async function save(): Promise<void> {
    const taken = isNew ? settings.providers.map(({ provider }) => provider) : [];
    problems.value = problemsIn(draft.value, taken);
    const [wrong] = Object.keys(problems.value);
    if (wrong !== undefined) {
      document.getElementById(`${id}-${wrong}`)?.focus();
      return;
    }
    const { id: provider } = draft.value;
    const body = bodyOf(draft.value, removesKey.value);
    const next = await run('operator.provider.set', subjectOfProvider(provider, body.baseUrl), (confirmation) =>
      call('operator.providers.set', { params: { provider }, body: { ...body, confirmation } }),
    );
    if (next !== null) onSaved(next);
  }

  const field = (name: DraftField, help: string) => ({ id: `${id}-${name}`, problem: problems.value[name], help });
  return (
    <form
      class="limit-form provider-form"
      aria-label={title}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
      }}
    >
      {isNew && (
        <Text
          {...field('id', 'What permissions name, such as openai:gpt-5-mini. It can’t be changed later.')}
          label="Id"
          value={draft.value.id}
          onInput={(text) => put({ id: text.trim() })}
        />
      )}
      <Text
        id={`${id}-name`}
        help="For people. Empty: the id."
        label="Name"
        value={draft.value.name}
        onInput={(name) => put({ name })}
      />
      <Text
        {...field(
          'baseUrl',
          'Such as https://api.openai.com/v1. It is reached from the node of the app, and is the only place that apps reach by it.',
        )}
        label="Address of the API"
        value={draft.value.baseUrl}
        onInput={(baseUrl) => put({ baseUrl })}
      />
      <div>
        <label for={`${id}-dialect`}>Dialect</label>
        <select
          id={`${id}-dialect`}
          value={draft.value.dialect}
          onChange={({ currentTarget: { value } }) => put({ dialect: value === 'anthropic' ? 'anthropic' : 'openai' })}
        >
          <option value="openai">OpenAI, and most model servers</option>
          <option value="anthropic">Anthropic</option>
        </select>
      </div>
      <Text
        {...field('key', keyHelp(hasKey, moves))}
        label="API key of the platform"
        isSecret
        value={draft.value.key}
        onInput={(key) => put({ key })}
      />
      {hasKey && !moves && draft.value.key === '' && (
        <label class="choice">
          <input
            type="checkbox"
            checked={removesKey.value}
            onChange={(event) => (removesKey.value = event.currentTarget.checked)}
          />
          <span>Delete the key, so that each account needs its own</span>
        </label>
      )}
      {moves && (
        <Note tone="warning">Another address: the keys that accounts set for this provider are deleted too.</Note>
      )}
      <div>
        <label for={`${id}-models`}>Models</label>
        <textarea
          id={`${id}-models`}
          rows={3}
          spellcheck={false}
          value={draft.value.models}
          aria-invalid={problems.value.models !== undefined}
          aria-describedby={`${id}-models-help`}
          onInput={(event) => put({ models: event.currentTarget.value })}
        />
        <Help id={`${id}-models-help`} problem={problems.value.models}>
          What people are shown, one per line. After the id, if you like, its prices for a million tokens of input and
          of output.
        </Help>
      </div>
      <details class="narrower">
        <summary>More</summary>
        <div class="limit-form">
          <Text
            {...field(
              'variables',
              'What backends get. Empty: PROVIDER_A_BASE_URL or PROVIDER_B_BASE_URL for the first two providers.',
            )}
            label="Variable for the address"
            value={draft.value.urlVariable}
            onInput={(urlVariable) => put({ urlVariable })}
          />
          <Text
            id={`${id}-key-variable`}
            label="Variable for the key"
            value={draft.value.keyVariable}
            onInput={(keyVariable) => put({ keyVariable })}
          />
          <label class="choice">
            <input
              type="checkbox"
              checked={!draft.value.streamUsage}
              onChange={(event) => put({ streamUsage: !event.currentTarget.checked })}
            />
            <span>It refuses “stream_options”, as Mistral’s API does</span>
          </label>
        </div>
      </details>
      {failure !== null && <Note tone={failure.tone}>{failure.text}</Note>}
      <div class="buttons">
        <Button kind="primary" icon="key" busy={busy} onClick={() => void save()}>
          Confirm with your passkey
        </Button>
        <Button kind="quiet" disabled={busy} onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

function keyHelp(hasKey: boolean, moves: boolean): string {
  if (hasKey && moves)
    return 'The key there is was for the former address, and is deleted. Enter the one for this address.';
  if (hasKey) return 'Empty: the key there is. It can’t be shown.';
  return 'For everybody who has none of their own. Stored encrypted, and never shown again. Empty: each account needs its own.';
}

function originOf(text: string): string {
  return URL.canParse(text.trim()) ? new URL(text.trim()).origin : '';
}

interface TextProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly help?: string;
  readonly problem?: string | undefined;
  /** Not to be read over a shoulder. */
  readonly isSecret?: boolean;
  readonly onInput: (text: string) => void;
}

function Text({ id, label, value, help, problem, isSecret = false, onInput }: TextProps) {
  const typed = {
    id,
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: false,
    maxLength: 1_024,
    value,
    'aria-invalid': problem !== undefined,
    'aria-describedby': help === undefined ? undefined : `${id}-help`,
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => onInput(event.currentTarget.value),
  } as const;
  return (
    <div>
      <label for={id}>{label}</label>
      {isSecret ? <input type="password" {...typed} /> : <input type="text" {...typed} />}
      {help !== undefined && (
        <Help id={`${id}-help`} problem={problem}>
          {help}
        </Help>
      )}
    </div>
  );
}

interface HelpProps {
  readonly id: string;
  readonly problem: string | undefined;
  readonly children: ComponentChildren;
}

function Help({ id, problem, children }: HelpProps) {
  return (
    <p id={id} class={`field-help${problem === undefined ? '' : ' wrong'}`} role="status">
      {problem ?? children}
    </p>
  );
}
