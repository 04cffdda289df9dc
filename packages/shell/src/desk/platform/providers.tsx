// The AI providers of the platform: those of the file, those that were added here, and model servers found on the machine.
import type { ModelServer, OperatorProvider, OperatorSettings } from '@platform/contract';
import { subjectOfProvider } from '@platform/contract/setting-subjects';
import { useSignal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useReading } from '../../api/reading.ts';
import { Button, Empty, IconButton, Note } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { focusPageHead, useKeptFocus } from '../../design/keep-focus.ts';
import { count } from '../../design/words.ts';
import { draftOf, NO_PROVIDER } from './provider-draft.ts';
import { ProviderForm } from './provider-form.tsx';
import { useConfirmed } from './use-confirmed.ts';

interface ProvidersProps {
  readonly settings: OperatorSettings;
  readonly put: (next: OperatorSettings) => void;
}

export function Providers({ settings, put }: ProvidersProps) {
  const { providers } = settings;
  const isAdding = useSignal(false);
  const adding = useKeptFocus<HTMLDivElement>(isAdding.value);
  return (
    <section class="block" aria-labelledby="ai-providers-title">
      <h3 id="ai-providers-title">AI providers</h3>
      {providers.length === 0 ? (
        <Empty icon="ai" title="No AI provider yet">
          Apps can’t use AI until there is one. Add a provider’s address and key, or a model server of your own.
        </Empty>
      ) : (
        <ul class="rows">
          {providers.map((provider) => (
            <ProviderRow
              key={`${provider.source} ${provider.provider}`}
              provider={provider}
              settings={settings}
              put={put}
            />
          ))}
        </ul>
      )}
      <ModelServers settings={settings} put={put} />
      <div ref={adding}>
        {isAdding.value ? (
          <ProviderForm
            title="Add a provider"
            draft={NO_PROVIDER}
            settings={settings}
            isNew
            onSaved={(next) => {
              put(next);
              isAdding.value = false;
            }}
            onCancel={() => (isAdding.value = false)}
          />
        ) : (
          <Button icon="plus" onClick={() => (isAdding.value = true)}>
            Add a provider
          </Button>
        )}
      </div>
    </section>
  );
}

interface ProviderRowProps extends ProvidersProps {
  readonly provider: OperatorProvider;
}

function ProviderRow({ provider, settings, put }: ProviderRowProps) {
  const mode = useSignal<'shown' | 'editing' | 'removing'>('shown');
  const row = useKeptFocus<HTMLLIElement>(mode.value);
  const { provider: id, name, baseUrl, models, keySet, source, inForce } = provider;
  const { busy, failure, run } = useConfirmed();

  async function remove(): Promise<void> {
    const next = await run('operator.provider.remove', id, (confirmation) =>
      call('operator.providers.remove', { params: { provider: id }, body: { confirmation } }),
    );
    if (next === null) return;
    put(next);
    focusPageHead();
  }

  return (
    <li class="row stacked setting-row" ref={row}>
      <div class="row-main">
        <span class="row-icon">
          <Icon name="ai" />
        </span>
        <span class="row-text">
          <span class="row-title">
            {name}
            {source === 'file' && <span class="tag">Set on the server</span>}
            {!inForce && <span class="tag warning">Not in use</span>}
            {inForce && !keySet && <span class="tag warning">No key</span>}
          </span>
          <span class="row-about">
            {id} · {baseUrl} · {models.length === 0 ? 'no models named' : count(models.length, 'model')}
          </span>
          <span class="row-about">{aboutKey(provider)}</span>
        </span>
        {source === 'fleet' && (
          <>
            <IconButton icon="pencil" label={`Change ${name}`} onClick={() => (mode.value = 'editing')} />
            <IconButton icon="trash" label={`Remove ${name}`} onClick={() => (mode.value = 'removing')} />
          </>
        )}
      </div>
      {mode.value === 'editing' && (
        <ProviderForm
          title={`Change ${name}`}
          draft={draftOf(provider)}
          settings={settings}
          isNew={false}
          onSaved={(next) => {
            put(next);
            mode.value = 'shown';
          }}
          onCancel={() => (mode.value = 'shown')}
        />
      )}
      {mode.value === 'removing' && (
        <section class="row-question" aria-label={`Remove ${name}?`}>
          <p>
            Remove {name}? Apps can’t use it from then on, and its key is deleted
            {inForce && ', as are the keys that accounts set for it'}. You confirm with your passkey.
          </p>
          {failure !== null && <Note tone={failure.tone}>{failure.text}</Note>}
          <div class="buttons">
            <Button disabled={busy} onClick={() => (mode.value = 'shown')}>
              Keep it
            </Button>
            <Button kind="danger" icon="key" busy={busy} onClick={() => void remove()}>
              Remove
            </Button>
          </div>
        </section>
      )}
    </li>
  );
}

function aboutKey({ keySet, source, inForce }: OperatorProvider): string {
  if (!inForce) return 'The file of AI providers on the server has one of this id, which counts instead.';
  const key = keySet ? 'Everybody uses the platform’s key, or their own.' : 'Each account needs a key of its own.';
  return source === 'file' ? `${key} It can’t be changed here.` : key;
}

const SERVER_NAMES: Readonly<Record<ModelServer['kind'], string>> = {
  ollama: 'Ollama',
  'llama.cpp': 'llama.cpp',
  vllm: 'vLLM',
  'lm-studio': 'LM Studio',
  other: 'Model server',
};

/** Looked for when the page opens, and never otherwise. */
function ModelServers({ settings, put }: ProvidersProps) {
  const { value, failure, again } = useReading(
    async () => (await call('operator.modelServers.find', { body: {} })).items,
  );
  if (failure !== null) return <Note tone="danger">{failure}</Note>;
  const found = value?.filter(({ provider }) => provider === null) ?? [];
  if (found.length === 0) return null;
  return (
    <section class="block" aria-label="Model servers on this machine">
      <ul class="rows">
        {found.map((server) => (
          <FoundServer
            key={server.baseUrl}
            server={server}
            settings={settings}
            onUsed={(next) => {
              put(next);
              void again();
            }}
          />
        ))}
      </ul>
    </section>
  );
}

interface FoundServerProps {
  readonly server: ModelServer;
  readonly settings: OperatorSettings;
  readonly onUsed: (next: OperatorSettings) => void;
}

function FoundServer({ server, settings, onUsed }: FoundServerProps) {
  const { kind, baseUrl, models } = server;
  const { busy, failure, run } = useConfirmed();
  const [id] = useState(() => freeId(kind, settings));
  const name = SERVER_NAMES[kind];

  async function use(): Promise<void> {
    const body = {
      name,
      baseUrl,
      dialect: 'openai' as const,
      models: models.map((model) => ({ id: model })),
      // Such servers ask for none; without one, each account would need its own.
      key: 'local',
    };
    const next = await run('operator.provider.set', subjectOfProvider(id, baseUrl), (confirmation) =>
      call('operator.providers.set', { params: { provider: id }, body: { ...body, confirmation } }),
    );
    if (next === null) return;
    onUsed(next);
    focusPageHead();
  }

  return (
    <li class="row stacked setting-row">
      <div class="row-main">
        <span class="row-icon">
          <Icon name="processor" />
        </span>
        <span class="row-text">
          <span class="row-title">
            {name} <span class="tag">On this machine</span>
          </span>
          <span class="row-about">
            {baseUrl} · {models.length === 0 ? 'no models yet' : models.slice(0, 5).join(', ')}
            {models.length > 5 && ` and ${models.length - 5} more`}
          </span>
        </span>
        <Button kind="primary" icon="key" busy={busy} onClick={() => void use()}>
          Use<span class="only-read"> {name} with your passkey</span>
        </Button>
      </div>
      <p class="quiet-text">
        Apps can then use its models, within their permissions, and reach nothing else on this machine. It works for
        apps that run here, not for those on other nodes.
      </p>
      {failure !== null && <Note tone={failure.tone}>{failure.text}</Note>}
    </li>
  );
}

function freeId(kind: ModelServer['kind'], { providers }: OperatorSettings): string {
  const wanted = kind === 'other' ? 'local' : kind.replace('.', '-');
  const taken = new Set(providers.map(({ provider }) => provider));
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number += 1) if (!taken.has(`${wanted}-${number}`)) return `${wanted}-${number}`;
}
