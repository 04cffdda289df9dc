// Lets a further passkey open what apps encrypt: one that opens it comes first, then the new one, each at a press of its own, which some
// browsers want.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Button, Note } from '../../design/controls.tsx';
import { type HeldPrf, wipePrf } from '../../session/prf.ts';
import { askFor, askForOpener, wrapFor } from './ceremonies.ts';

interface NamedPasskey {
  readonly id: string;
  readonly label: string;
}

interface Begun {
  readonly passkey: NamedPasskey;
  /** What a passkey gave that opens it. */
  readonly opener: HeldPrf;
}

export interface Opening {
  readonly begun: Signal<Begun | null>;
  /** With a passkey that opens it. @throws PasskeyError or ApiError */
  begin(passkey: NamedPasskey): Promise<void>;
  /** With the new one. @throws PasskeyError or ApiError */
  finish(): Promise<void>;
  /**
   * The same for a passkey that was created a moment ago, as far as the two ceremonies of that went. It takes both.
   * @throws ApiError
   */
  follow(passkey: NamedPasskey, opener: HeldPrf | null, fresh: HeldPrf | null): Promise<void>;
}

export function useOpening(account: string, onChanged: () => void): Opening {
  const begun = useSignal<Begun | null>(null);
  const drop = () => {
    wipePrf(begun.value?.opener ?? null);
    begun.value = null;
  };
  // Whoever leaves the page leaves it as it was.
  useEffect(() => () => wipePrf(begun.value?.opener ?? null), []);

  async function wrapped(opener: HeldPrf, fresh: HeldPrf): Promise<void> {
    try {
      await wrapFor(account, opener, fresh);
      onChanged();
    } finally {
      wipePrf(fresh);
    }
  }

  return {
    begun,
    async begin(passkey) {
      drop();
      begun.value = { passkey, opener: await askForOpener() };
    },
    async finish() {
      if (begun.value === null) return;
      const { passkey, opener } = begun.value;
      await wrapped(opener, await askFor(passkey.id));
      drop();
    },
    async follow(passkey, opener, fresh) {
      drop();
      if (opener?.first == null || fresh === null || !fresh.hasPrf) {
        wipePrf(opener);
        wipePrf(fresh);
        return;
      }
      if (fresh.first === null) begun.value = { passkey, opener };
      else await wrapped(opener, fresh).finally(() => wipePrf(opener));
    },
  };
}

interface NextStepProps {
  readonly opening: Opening;
  readonly busy: boolean;
  readonly onFinish: () => void;
}

/** What is left to do, where something is. */
export function NextStep({ opening, busy, onFinish }: NextStepProps) {
  const { value } = opening.begun;
  if (value === null) return null;
  return (
    <>
      <Note tone="info">
        One more step: use “{value.passkey.label}” once, so that it opens what apps encrypt for you.
      </Note>
      <div class="buttons">
        <Button kind="primary" icon="key" busy={busy} onClick={onFinish}>
          {busy ? 'Waiting for your device' : `Use ${value.passkey.label}`}
        </Button>
      </div>
    </>
  );
}
