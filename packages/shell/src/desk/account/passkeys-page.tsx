// The passkeys of the account: see, add, rename, remove. The last one cannot be removed: without it the account could
// not be signed in to.
import type { CeremonyOptions, PasskeyConfirmation, PasskeyView } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { type Reading, useReading } from '../../api/reading.ts';
import { Button, IconButton, Note, Skeleton } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { ago, inFull } from '../../design/words.ts';
import { confirmedIfNeeded, confirmWithPasskey } from '../../session/confirm.ts';
import { useDraft } from '../../session/drafts.ts';
import { type Failure, failureOf } from '../../session/failure.ts';
import { isOperator } from '../../session/guide.ts';
import { createPasskey, passkeyObstacle } from '../../session/passkey.ts';
import { registeredInThisPage } from '../../session/session.ts';

type Keys = readonly PasskeyView[];

export function PasskeysPage() {
  const reading = useReading<Keys>(async () => (await call('auth.passkeys.list')).items);
  return (
    <>
      <PageHead title="Passkeys">
        <p class="quiet-text">
          A passkey signs you in. Keep at least two, on different devices: if you lose your only one,{' '}
          {isOperator() ? (
            <>
              only <code>./platform recover</code> on the platform’s machine lets you back in.
            </>
          ) : (
            'only the operator can let you back in.'
          )}
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
  const problem = useSignal<Failure | null>(null);
  /** Confirmed with a passkey of the account; the new one is created at a press of its own, which some browsers want. */
  const confirmed = useSignal<CeremonyOptions | null>(null);

  async function attempt(work: () => Promise<void>): Promise<void> {
    busy.value = true;
    problem.value = null;
    try {
      await work();
    } catch (error) {
      problem.value = failureOf(error);
    } finally {
      busy.value = false;
    }
  }

  const begin = () =>
    attempt(async () => {
      let isConfirmed = false;
      const send = (confirmation?: PasskeyConfirmation) => {
        isConfirmed = confirmation !== undefined;
        return call('auth.passkeys.options', { body: { confirmation } });
      };
      const options = registeredInThisPage()
        ? await confirmedIfNeeded(send, 'passkey.add')
        : await send(await confirmWithPasskey('passkey.add'));
      if (isConfirmed) confirmed.value = options;
      else await create(options);
    });

  async function create(options: CeremonyOptions): Promise<void> {
    confirmed.value = null;
    const { passkey } = await call('auth.passkeys.verify', { body: await createPasskey(options) });
    reading.put([...keys, passkey]);
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
        <AddButton
          busy={busy.value}
          confirmed={confirmed.value}
          onBegin={begin}
          onCreate={(next) => attempt(() => create(next))}
        />
      )}
    </>
  );
}

interface AddButtonProps {
  readonly busy: boolean;
  readonly confirmed: CeremonyOptions | null;
  readonly onBegin: () => Promise<void>;
  readonly onCreate: (options: CeremonyOptions) => Promise<void>;
}

function AddButton({ busy, confirmed, onBegin, onCreate }: AddButtonProps) {
  return (
    <>
      {confirmed !== null && (
        <Note tone="success">Confirmed. Now create the new passkey: on this device, a phone or a security key.</Note>
      )}
      <div class="buttons">
        <Button
          kind="primary"
          icon="plus"
          busy={busy}
          onClick={() => void (confirmed === null ? onBegin() : onCreate(confirmed))}
        >
          {busy ? 'Waiting for your device' : confirmed === null ? 'Add a passkey' : 'Create the passkey'}
        </Button>
      </div>
    </>
  );
}

interface KeyRowProps {
  readonly passkey: PasskeyView;
  readonly isLast: boolean;
  readonly onChanged: (passkey: PasskeyView) => void;
  readonly onRemoved: () => void;
}

export function KeyRow({ passkey, isLast, onChanged, onRemoved }: KeyRowProps) {
  const label = useDraft(`passkey ${passkey.id}`, passkey.label);
  const mode = useSignal<'shown' | 'renaming' | 'removing'>(label.isChanged ? 'renaming' : 'shown');
  const problem = useSignal<Failure | null>(null);
  const busy = useSignal(false);
  const field = useRef<HTMLInputElement>(null);

  async function attempt(work: () => Promise<void>): Promise<void> {
    busy.value = true;
    problem.value = null;
    try {
      await work();
    } catch (error) {
      problem.value = failureOf(error);
    } finally {
      busy.value = false;
    }
  }

  const rename = () =>
    attempt(async () => {
      const body = { label: label.value.trim() };
      const answer = await call('auth.passkeys.label', { params: { id: passkey.id }, body });
      label.drop();
      mode.value = 'shown';
      onChanged(answer.passkey);
    });
  const remove = () =>
    attempt(async () => {
      const confirmation = await confirmWithPasskey('passkey.remove', passkey.id);
      await call('auth.passkeys.remove', { params: { id: passkey.id }, body: { confirmation } });
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
              value={label.value}
              onInput={(event) => label.put(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === 'Escape' && !label.isChanged) mode.value = 'shown';
              }}
            />
            <button type="submit" class="button primary">
              <span>Save</span>
            </button>
            <Button
              kind="quiet"
              onClick={() => {
                label.drop();
                mode.value = 'shown';
              }}
            >
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
          <p>
            Remove this passkey? You can no longer sign in with it; the other sessions it started, the command lines it
            allowed and the clients it connected end. You confirm this with a passkey.
          </p>
          <div class="buttons">
            <Button onClick={() => (mode.value = 'shown')}>Keep it</Button>
            <Button kind="danger" busy={busy.value} onClick={() => void remove()}>
              Remove
            </Button>
          </div>
        </section>
      )}
      {problem.value !== null && <Note tone={problem.value.tone}>{problem.value.text}</Note>}
    </li>
  );
}
