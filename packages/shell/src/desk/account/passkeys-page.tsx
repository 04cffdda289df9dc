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
import { type HeldPrf, takePrf, wipePrf } from '../../session/prf.ts';
import { registeredInThisPage, session } from '../../session/session.ts';
import { type Here, readHere } from '../recipient/here.ts';
import { NextStep, useOpening } from '../recipient/opening.tsx';
import { RecipientSection } from '../recipient/recipient-section.tsx';

type Keys = readonly PasskeyView[];

export function PasskeysPage() {
  const account = session.value.kind === 'signed-in' ? session.value.account.name : '';
  const reading = useReading<Keys>(async () => (await call('auth.passkeys.list')).items);
  // The passkeys are there without it.
  const here = useReading<Here>(() => readHere(account));
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
        <KeyList account={account} keys={reading.value} reading={reading} here={here} />
      )}
      {here.value !== null && (
        <RecipientSection account={account} here={here.value} onChanged={() => void here.again()} />
      )}
    </>
  );
}

/** A passkey that is to be created, once another one confirmed it. */
interface Confirmed {
  readonly options: CeremonyOptions;
  /** What that one gave, with which the new one can be let in on what apps encrypt. */
  readonly opener: HeldPrf | null;
}

interface KeyListProps {
  readonly account: string;
  readonly keys: Keys;
  readonly reading: Reading<Keys>;
  readonly here: Reading<Here>;
}

function KeyList({ account, keys, reading, here }: KeyListProps) {
  const busy = useSignal(false);
  const problem = useSignal<Failure | null>(null);
  /** Confirmed with a passkey of the account; the new one is created at a press of its own, which some browsers want. */
  const confirmed = useSignal<Confirmed | null>(null);
  const opening = useOpening(account, () => void here.again());
  const openers = new Set(here.value?.recipient?.wrappings.map(({ passkeyId }) => passkeyId));
  const hasRecipient = openers.size > 0;

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
      const begun = { options, opener: isConfirmed ? takePrf() : null };
      if (isConfirmed) confirmed.value = begun;
      else await create(begun);
    });

  async function create({ options, opener }: Confirmed): Promise<void> {
    confirmed.value = null;
    try {
      const created = await createPasskey(options);
      const fresh = takePrf();
      const { passkey } = await call('auth.passkeys.verify', { body: created });
      reading.put([...keys, passkey]);
      await opening.follow(passkey, hasRecipient ? opener : null, fresh);
    } catch (error) {
      wipePrf(opener);
      throw error;
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
            opens={hasRecipient ? openers.has(key.id) : undefined}
            isLastOpener={openers.size === 1 && openers.has(key.id)}
            onLetOpen={() => opening.begin(key)}
            onChanged={(changed) => reading.put(keys.map((each) => (each.id === changed.id ? changed : each)))}
            onRemoved={() => {
              reading.put(keys.filter(({ id }) => id !== key.id));
              void here.again();
            }}
          />
        ))}
      </ul>
      {problem.value !== null && <Note tone={problem.value.tone}>{problem.value.text}</Note>}
      <NextStep opening={opening} busy={busy.value} onFinish={() => void attempt(opening.finish)} />
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
  readonly confirmed: Confirmed | null;
  readonly onBegin: () => Promise<void>;
  readonly onCreate: (confirmed: Confirmed) => Promise<void>;
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
  /** Whether it opens what apps encrypt; absent where no passkey does. */
  readonly opens?: boolean | undefined;
  readonly isLastOpener?: boolean;
  /** Begins to let it. */
  readonly onLetOpen?: () => Promise<void>;
  readonly onChanged: (passkey: PasskeyView) => void;
  readonly onRemoved: () => void;
}

export function KeyRow({ passkey, isLast, opens, isLastOpener, onLetOpen, onChanged, onRemoved }: KeyRowProps) {
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
                {opens === true && ' · opens what apps encrypt for you'}
                {opens === false && ' · doesn’t open what apps encrypt for you'}
              </span>
              {opens === false && onLetOpen !== undefined && (
                <button
                  type="button"
                  class="link"
                  aria-label={`Let it open that: ${passkey.label}`}
                  onClick={() => void attempt(onLetOpen)}
                >
                  Let it open that
                </button>
              )}
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
          {isLastOpener === true && (
            <Note tone="warning">
              No other passkey of yours opens what apps encrypt for you. Once this one is gone, only browsers where it
              opens already can read it. Let another passkey open it first.
            </Note>
          )}
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
