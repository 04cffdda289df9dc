// A payment that the person enters. It is proposed like any app's, and the shell's review asks for the passkey.
import type { App } from '@platform/sdk/browser';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { messageOf } from '../../shared/use-loaded.ts';
import type { Overview } from './use-wallet.ts';
import { minorUnits, moneyText, shortName } from './words.ts';

interface PayFormProps {
  readonly app: App;
  readonly overview: Overview;
  readonly act: <Result>(work: () => Promise<Result>) => Promise<Result | undefined>;
  readonly onDone: (said: string) => void;
  readonly onCancel: () => void;
}

const REFERENCE = 140;

export function PayForm({ app, overview, act, onDone, onCancel }: PayFormProps) {
  const [to, setTo] = useState('');
  const [typed, setTyped] = useState('');
  const [reference, setReference] = useState('');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  /** Of what is entered now: pressing twice proposes once. */
  const key = useRef(crypto.randomUUID());
  const id = useId();
  const [currency] = overview.balances;
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  useEffect(() => {
    key.current = crypto.randomUUID();
  }, [to, typed, reference]);

  async function pick(): Promise<void> {
    try {
      const contact = await app.pickContact();
      if (contact !== null) setTo(contact.address);
    } catch (error) {
      setProblem(messageOf(error));
    }
  }

  async function propose(event: Event): Promise<void> {
    event.preventDefault();
    if (busy || currency === undefined) return;
    const value = minorUnits(typed, currency);
    if (value === null) {
      setProblem(`Write the amount as a number with at most ${currency.decimals} decimals, such as 12.50.`);
      return;
    }
    setBusy(true);
    setProblem(undefined);
    await act(async () => {
      try {
        const proposal = await app.proposePayment({
          ...{ to: to.trim(), amount: { currency: currency.currency, value }, idempotencyKey: key.current },
          ...(reference.trim() === '' ? {} : { reference: reference.trim() }),
        });
        const what = `${moneyText(value, currency)} to ${shortName(to.trim(), overview.address)}`;
        if (proposal.state === 'executed') onDone(`Paid ${what}.`);
        else if (proposal.state === 'pending') onDone(`${what} waits under Requests.`);
        else if (proposal.state === 'declined') onDone(`${what} was declined.`);
        else setProblem('It could not be paid. Try again.');
      } catch (error) {
        setProblem(messageOf(error));
      }
    });
    setBusy(false);
  }

  return (
    <form ref={form} class="card below form appears" aria-label="Pay" onSubmit={propose}>
      <div>
        <label for={`${id}-to`}>To</label>
        <div class="row">
          <input
            id={`${id}-to`}
            class="grow"
            type="text"
            value={to}
            maxLength={255}
            required
            autoComplete="off"
            autoCapitalize="none"
            spellcheck={false}
            aria-describedby={`${id}-help`}
            onInput={({ currentTarget }) => setTo(currentTarget.value)}
          />
          <button type="button" onClick={() => void pick()}>
            Choose a contact
          </button>
        </div>
        <p class="quiet small" id={`${id}-help`}>
          A name on this platform, such as ben
        </p>
      </div>
      <div>
        <label for={`${id}-amount`}>Amount in {currency?.currency}</label>
        <input
          id={`${id}-amount`}
          type="text"
          inputMode="decimal"
          value={typed}
          maxLength={20}
          required
          autoComplete="off"
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </div>
      <div>
        <label for={`${id}-reference`}>What for</label>
        <input
          id={`${id}-reference`}
          type="text"
          value={reference}
          maxLength={REFERENCE}
          autoComplete="off"
          onInput={({ currentTarget }) => setReference(currentTarget.value)}
        />
      </div>
      <Failure text={problem} />
      <div class="row">
        <button type="submit" class="primary" aria-busy={busy}>
          Review payment
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
