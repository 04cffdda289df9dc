// In Settings → Passkeys: whether what apps encrypt for the person opens in this browser, and what to do where it does not.
import type { RecipientState } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { Button, Note } from '../../design/controls.tsx';
import { type Failure, failureOf } from '../../session/failure.ts';
import { startAnew, unlockHere } from './ceremonies.ts';
import type { Here } from './here.ts';

interface Told {
  readonly tone: 'info' | 'warning' | 'success';
  readonly text: string;
  /** What a press does about it; absent where there is nothing to do. */
  readonly button?: string;
}

const TOLD: Readonly<Record<RecipientState, Told>> = {
  ready: { tone: 'success', text: 'It opens in this browser, also after you sign out and in again.' },
  locked: {
    tone: 'warning',
    text: 'It is locked in this browser: the passkey you signed in with doesn’t open it.',
    button: 'Unlock with a passkey',
  },
  none: {
    tone: 'info',
    text: 'No app has a key for it yet. Your next sign-in makes it, or a passkey does now.',
    button: 'Turn it on with a passkey',
  },
  unsupported: {
    tone: 'warning',
    text: 'The passkey you signed in with can’t do this: its device, password manager or browser lacks what it needs. Apps that encrypt for you, such as a diary, don’t work here until another passkey turns it on. Everything else works.',
    button: 'Try with another passkey',
  },
  'migrates-at-sign-in': {
    tone: 'info',
    text: 'It is still sealed the way this platform did before. It opens when you sign in again, or now.',
    button: 'Unlock with a passkey',
  },
};

const NOTHING_OPENS: Told = {
  tone: 'warning',
  text: 'None of your passkeys opens it: those that did were removed.',
};

interface SectionProps {
  readonly account: string;
  readonly here: Here;
  readonly onChanged: () => void;
}

export function RecipientSection({ account, here, onChanged }: SectionProps) {
  const busy = useSignal(false);
  const problem = useSignal<Failure | null>(null);
  const asks = useSignal(false);

  async function attempt(work: () => Promise<void>): Promise<void> {
    busy.value = true;
    problem.value = null;
    try {
      await work();
      asks.value = false;
      onChanged();
    } catch (error) {
      problem.value = failureOf(error, 'This browser can’t do this. Use a current version of it, or another browser.');
    } finally {
      busy.value = false;
    }
  }

  const isLost = here.state !== 'ready' && here.recipient?.wrappings.length === 0;
  const { tone, text, button } = isLost ? NOTHING_OPENS : TOLD[here.state];
  const mayStartAnew = here.recipient !== null && here.state !== 'ready';
  return (
    <section class="block" aria-labelledby="encrypted-for-you">
      <h3 id="encrypted-for-you">What apps encrypt for you</h3>
      <p class="quiet-text">
        Some apps, such as a diary, encrypt what you write before they keep it. Whoever looks into this platform’s data
        can’t read it, and neither can its operator. Your passkeys open it.
      </p>
      <Note tone={tone}>{text}</Note>
      {problem.value !== null && <Note tone={problem.value.tone}>{problem.value.text}</Note>}
      {asks.value ? (
        <section class="row-question" aria-label="Start anew?">
          <p>
            Start anew with another key? What apps encrypted for you before stays unreadable, except in browsers where
            it still opens. Do this only if you have lost every passkey that opens it. You confirm it with a passkey.
          </p>
          <div class="buttons">
            <Button onClick={() => (asks.value = false)}>Keep it</Button>
            <Button kind="danger" busy={busy.value} onClick={() => void attempt(() => startAnew(account))}>
              Start anew
            </Button>
          </div>
        </section>
      ) : (
        <div class="buttons">
          {button !== undefined && (
            <Button icon="key" busy={busy.value} onClick={() => void attempt(() => unlockHere(account))}>
              {busy.value ? 'Waiting for your device' : button}
            </Button>
          )}
          {mayStartAnew && (
            <Button kind="quiet" onClick={() => (asks.value = true)}>
              Start anew…
            </Button>
          )}
        </div>
      )}
    </section>
  );
}
