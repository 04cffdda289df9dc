// The passkeys of the account: see, add, rename, remove. The last one cannot be removed: without it the account could
// not be signed in to.
import type { PasskeyView } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { plainMessage } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { type Reading, useReading } from '../../api/reading.ts';
import { Button, IconButton, Note, Skeleton } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { ago, inFull } from '../../design/words.ts';
import { createPasskey, PasskeyError, passkeyObstacle } from '../../session/passkey.ts';

type Keys = readonly PasskeyView[];

export function PasskeysPage() {
  const reading = useReading<Keys>(async () => (await call('auth.passkeys.list')).items);
  return (
    <>
      <PageHead title="Passkeys">
        <p class="quiet-text">
          A passkey signs you in. Keep at least two, on different devices: if you lose your only one, only the operator
          can let you back in.
        </p>
      </PageHead>
      {reading.failure !== null && <Note tone="danger">{reading.failure}</Note>}
      {reading.value === null ? (
        reading.failure === null && <Skeleton lines={2} label="Loading passkeys" />
      ) : (
        <KeyList keys={reading.value} reading={reading} />
      )}
    </>
  );
}

function KeyList({ keys, reading }: { readonly keys: Keys; readonly reading: Reading<Keys> }) {
  const busy = useSignal(false);
  const problem = useSignal<{ readonly text: string; readonly tone: 'danger' | 'info' } | null>(null);

  async function add(): Promise<void> {
    busy.value = true;
    problem.value = null;
    try {
      const options = await call('auth.passkeys.options', { body: {} });
      const { passkey } = await call('auth.passkeys.verify', { body: await createPasskey(options) });
      reading.put([...keys, passkey]);
    } catch (error) {
      const cancelled = error instanceof PasskeyError && error.cancelled;
      const text = error instanceof PasskeyError ? error.message : plainMessage(error);
      problem.value = { text, tone: cancelled ? 'info' : 'danger' };
    } finally {
      busy.value = false;
    }
  }

  const obstacle = passkeyObstacle();
  return (
    <>
      {keys.length === 1 && (
        <Note tone="warning">You have one passkey. Add another one on a second device or security key.</Note>
      )}
      <ul class="rows">
        {keys.map((key) => (
          <KeyRow
            key={key.id}
            passkey={key}
            isLast={keys.length === 1}
            onChanged={(changed) => reading.put(keys.map((each) => (each.id === changed.id ? changed : each)))}
            onRemoved={() => reading.put(keys.filter(({ id }) => id !== key.id))}
          />
        ))}
      </ul>
      {problem.value !== null && <Note tone={problem.value.tone}>{problem.value.text}</Note>}
      {obstacle !== null ? (
        <Note tone="danger">{obstacle}</Note>
      ) : (
        <div class="buttons">
          <Button kind="primary" icon="plus" busy={busy.value} onClick={() => void add()}>
            {busy.value ? 'Waiting for your device' : 'Add a passkey'}
          </Button>
        </div>
      )}
    </>
  );
}

interface KeyRowProps {
  readonly passkey: PasskeyView;
  readonly isLast: boolean;
  readonly onChanged: (passkey: PasskeyView) => void;
  readonly onRemoved: () => void;
}

function KeyRow({ passkey, isLast, onChanged, onRemoved }: KeyRowProps) {
  const mode = useSignal<'shown' | 'renaming' | 'removing'>('shown');
  const problem = useSignal<string | null>(null);
  const field = useRef<HTMLInputElement>(null);

  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      problem.value = null;
    } catch (error) {
      problem.value = plainMessage(error);
    }
  }

  const rename = () =>
    attempt(async () => {
      const label = (field.current?.value ?? '').trim();
      const answer = await call('auth.passkeys.label', { params: { id: passkey.id }, body: { label } });
      mode.value = 'shown';
      onChanged(answer.passkey);
    });
  const remove = () =>
    attempt(async () => {
      await call('auth.passkeys.remove', { params: { id: passkey.id } });
      onRemoved();
    });

  return (
    <li class="row stacked">
      <div class="row-main">
        <span class="row-icon">
          <Icon name="key" />
        </span>
        {mode.value === 'renaming' ? (
          <form
            class="rename"
            onSubmit={(event) => {
              event.preventDefault();
              void rename();
            }}
          >
            <input
              ref={(element) => {
                if (element !== null && field.current === null) element.focus();
                field.current = element;
              }}
              type="text"
              aria-label="Name of the passkey"
              maxLength={60}
              defaultValue={passkey.label}
              onKeyDown={(event) => {
                if (event.key === 'Escape') mode.value = 'shown';
              }}
            />
            <button type="submit" class="button primary">
              <span>Save</span>
            </button>
            <Button kind="quiet" onClick={() => (mode.value = 'shown')}>
              Cancel
            </Button>
          </form>
        ) : (
          <>
            <span class="row-text">
              <span class="row-title">{passkey.label}</span>
              <span class="row-about">
                {passkey.backedUp ? 'Synced by its provider' : 'Stays on one device'} · added{' '}
                <time dateTime={passkey.createdAt} title={inFull(passkey.createdAt)}>
                  {ago(passkey.createdAt)}
                </time>{' '}
                · {passkey.lastUsedAt === null ? 'never used to sign in' : `last used ${ago(passkey.lastUsedAt)}`}
              </span>
            </span>
            <IconButton icon="pencil" label={`Rename ${passkey.label}`} onClick={() => (mode.value = 'renaming')} />
            {!isLast && (
              <IconButton icon="trash" label={`Remove ${passkey.label}`} onClick={() => (mode.value = 'removing')} />
            )}
          </>
        )}
      </div>
      {mode.value === 'removing' && (
        <section class="row-question" aria-label={`Remove ${passkey.label}?`}>
          <p>Remove this passkey? You can no longer sign in with it, and the other sessions it started end.</p>
          <div class="buttons">
            <Button onClick={() => (mode.value = 'shown')}>Keep it</Button>
            <Button kind="danger" onClick={() => void remove()}>
              Remove
            </Button>
          </div>
        </section>
      )}
      {problem.value !== null && <Note tone="danger">{problem.value}</Note>}
    </li>
  );
}
