// The secrets of the account: their names, what uses them and when last; add, replace, remove. Values are only ever sent.
import type { Secret } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { call, ONE_PAGE } from '../../api/client.ts';
import { useAction, useReading } from '../../api/reading.ts';
import { findApp } from '../../apps/installed-apps.ts';
import { Button, Empty, IconButton, Note, Skeleton } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { focusPageHead, onFieldKeys, useKeptFocus } from '../../design/keep-focus.ts';
import { PageHead } from '../../design/page-head.tsx';
import { ago, inFull } from '../../design/words.ts';
import { useDraft } from '../../session/drafts.ts';
import { missingIn, NEW, NO_DRAFT, nameOf } from './draft.ts';
import { NewSecretFields, SecretValue } from './slot-choice.tsx';

export function SecretsPage() {
  const reading = useReading(async () => (await call('secrets.list', ONE_PAGE)).items);
  const { value, failure, again } = reading;
  return (
    <>
      <PageHead title="Secrets">
        <p class="quiet-text">
          Keys and tokens of outside services. You choose which app may use which one, and the platform adds it to the
          app’s requests. No app sees a secret, and neither do you once it is saved.
        </p>
      </PageHead>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {value === null ? (
        failure === null && <Skeleton lines={2} label="Loading secrets" />
      ) : (
        <>
          {value.length === 0 && (
            <Empty icon="lock" title="No secrets yet">
              Add one here, or when you install an app that needs one.
            </Empty>
          )}
          {value.length > 0 && (
            <ul class="rows">
              {value.map((secret) => (
                <SecretRow key={secret.name} secret={secret} again={again} />
              ))}
            </ul>
          )}
          <AddSecret taken={value.map(({ name }) => name)} again={again} />
        </>
      )}
    </>
  );
}

function usesOf({ bindings }: Secret): string {
  const apps = [...new Set(bindings.map(({ appId }) => findApp(appId)?.name ?? appId))];
  return apps.length === 0 ? 'No app uses it' : `Used by ${apps.join(', ')}`;
}

function SecretRow({ secret, again }: { readonly secret: Secret; readonly again: () => Promise<void> }) {
  const { busy, failure, run } = useAction();
  const { name } = secret;
  const text = useDraft(`secret ${name}`, '', { secret: true });
  const mode = useSignal<'shown' | 'replacing' | 'removing'>(text.isChanged ? 'replacing' : 'shown');
  const row = useKeptFocus<HTMLLIElement>(mode.value);

  async function change(work: () => Promise<unknown>): Promise<void> {
    if (!(await run(work))) return;
    text.drop();
    mode.value = 'shown';
    await again();
  }

  function focusIfGone(): void {
    if (row.current?.isConnected !== true) focusPageHead();
  }

  function cancel(): void {
    text.drop();
    mode.value = 'shown';
  }

  function replace(): void {
    if (text.value.trim() === '') return;
    void change(() => call('secrets.put', { params: { name }, body: { value: text.value.trim() } }));
  }

  return (
    <li class="row stacked" ref={row}>
      <div class="row-main">
        <span class="row-icon">
          <Icon name="lock" />
        </span>
        <span class="row-text">
          <span class="row-title">{name}</span>
          <span class="row-about">
            {usesOf(secret)} ·{' '}
            {secret.lastUsedAt === null ? (
              'never used'
            ) : (
              <time dateTime={secret.lastUsedAt} title={inFull(secret.lastUsedAt)}>
                last used {ago(secret.lastUsedAt)}
              </time>
            )}
          </span>
        </span>
        <IconButton icon="pencil" label={`Replace ${name}`} onClick={() => (mode.value = 'replacing')} />
        <IconButton icon="trash" label={`Remove ${name}`} onClick={() => (mode.value = 'removing')} />
      </div>
      {mode.value === 'replacing' && (
        <section class="row-question" aria-label={`Replace ${name}`}>
          <form
            class="slot-choice"
            onSubmit={(event) => event.preventDefault()}
            onKeyDown={onFieldKeys({ onEnter: replace, onEscape: () => !text.isChanged && cancel() })}
          >
            <SecretValue value={text.value} disabled={busy} onChange={text.put} />
          </form>
          <div class="buttons">
            <Button kind="primary" busy={busy} disabled={text.value.trim() === ''} onClick={replace}>
              Replace
            </Button>
            <Button onClick={cancel}>Cancel</Button>
          </div>
        </section>
      )}
      {mode.value === 'removing' && (
        <section class="row-question" aria-label={`Remove ${name}?`}>
          <p>
            {secret.bindings.length === 0
              ? `Remove ${name}? You can’t get it back.`
              : `Remove ${name}? ${usesOf(secret).replace('Used by ', '')} can no longer use it, and you can’t get it back.`}
          </p>
          <div class="buttons">
            <Button onClick={() => (mode.value = 'shown')}>Keep it</Button>
            <Button
              kind="danger"
              busy={busy}
              onClick={() => void change(() => call('secrets.remove', { params: { name } })).then(focusIfGone)}
            >
              Remove
            </Button>
          </div>
        </section>
      )}
      {failure !== null && <Note tone="danger">{failure}</Note>}
    </li>
  );
}

function AddSecret({ taken, again }: { readonly taken: readonly string[]; readonly again: () => Promise<void> }) {
  const { busy, failure, run } = useAction();
  const draft = useDraft('new-secret', { ...NO_DRAFT, secret: NEW }, { secret: true });
  const shown = useSignal(draft.isChanged);
  const problem = useSignal<string | null>(null);
  const whole = useKeptFocus<HTMLElement>(shown.value);

  async function add(): Promise<void> {
    problem.value = missingIn(draft.value, taken);
    if (problem.value !== null) return;
    const { newName, newValue } = draft.value;
    const work = () => call('secrets.put', { params: { name: nameOf(newName) }, body: { value: newValue.trim() } });
    if (!(await run(work))) return;
    cancel();
    await again();
  }

  function cancel(): void {
    draft.drop();
    shown.value = false;
  }

  if (!shown.value) {
    return (
      <section ref={whole} class="buttons" aria-label="Add a secret">
        <Button kind="primary" icon="plus" onClick={() => (shown.value = true)}>
          Add a secret
        </Button>
      </section>
    );
  }
  return (
    <section ref={whole} class="block" aria-labelledby="add-secret-title">
      <h3 id="add-secret-title">Add a secret</h3>
      <form
        class="slot-choice"
        onSubmit={(event) => event.preventDefault()}
        onKeyDown={onFieldKeys({ onEnter: () => void add(), onEscape: () => !draft.isChanged && cancel() })}
      >
        <NewSecretFields
          name={draft.value.newName}
          value={draft.value.newValue}
          disabled={busy}
          onChange={(newName, newValue) => {
            problem.value = null;
            draft.put({ ...draft.value, newName, newValue });
          }}
        />
      </form>
      {(problem.value ?? failure) !== null && <Note tone="danger">{problem.value ?? failure}</Note>}
      <div class="buttons">
        <Button kind="primary" busy={busy} onClick={() => void add()}>
          Save
        </Button>
        <Button onClick={cancel}>Cancel</Button>
      </div>
    </section>
  );
}
