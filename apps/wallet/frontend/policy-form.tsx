// A limit that the person enters; the shell shows what it changes and asks for the passkey.
import type { App } from '@platform/sdk/browser';
import { useId, useRef, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { messageOf } from '../../shared/use-loaded.ts';
import type { Overview } from './use-wallet.ts';
import { minorUnits } from './words.ts';

interface PolicyFormProps {
  readonly app: App;
  readonly overview: Overview;
  readonly act: <Result>(work: () => Promise<Result>) => Promise<Result | undefined>;
  readonly onDone: (said: string) => void;
  readonly onCancel: () => void;
}

const EMPTY = { name: '', perPayment: '', perDay: '', perMonth: '', recipients: '', appId: '' };

export function PolicyForm({ app, overview, act, onDone, onCancel }: PolicyFormProps) {
  const [entered, setEntered] = useState(EMPTY);
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const key = useRef(crypto.randomUUID());
  const id = useId();
  const [currency] = overview.balances;

  function change(member: keyof typeof EMPTY, value: string): void {
    key.current = crypto.randomUUID();
    setEntered({ ...entered, [member]: value });
  }

  async function propose(event: Event): Promise<void> {
    event.preventDefault();
    if (busy || currency === undefined) return;
    const amount = (typed: string) => (typed.trim() === '' ? undefined : minorUnits(typed, currency));
    const [perPayment, perDay, perMonth] = [
      amount(entered.perPayment),
      amount(entered.perDay),
      amount(entered.perMonth),
    ];
    if (perPayment === undefined || [perPayment, perDay, perMonth].includes(null)) {
      setProblem(`Write amounts as numbers with at most ${currency.decimals} decimals, such as 12.50.`);
      return;
    }
    const recipients = entered.recipients.split(/[\s,;]+/).filter((one) => one !== '');
    setBusy(true);
    setProblem(undefined);
    await act(async () => {
      try {
        const proposal = await app.proposePolicy({
          ...{ name: entered.name.trim(), currency: currency.currency, perPayment: perPayment ?? '', recipients },
          ...(perDay == null ? {} : { perDay }),
          ...(perMonth == null ? {} : { perMonth }),
          ...(entered.appId === '' ? {} : { appIds: [entered.appId] }),
          idempotencyKey: key.current,
        });
        if (proposal.state === 'executed') onDone(`“${entered.name.trim()}” holds from now on.`);
        else if (proposal.state === 'failed') setProblem('It could not be added. Remove a policy, and try again.');
        else onDone(proposal.state === 'pending' ? 'It waits under Requests.' : 'It was declined.');
      } catch (error) {
        setProblem(messageOf(error));
      }
    });
    setBusy(false);
  }

  const field = (member: keyof typeof EMPTY, label: string, help = '', isNeeded = true) => (
    <div>
      <label for={`${id}-${member}`}>{label}</label>
      <input
        id={`${id}-${member}`}
        type="text"
        value={entered[member]}
        required={isNeeded}
        maxLength={member === 'name' ? 60 : 20_000}
        inputMode={member.startsWith('per') ? 'decimal' : 'text'}
        autoComplete="off"
        autoCapitalize="none"
        {...(help === '' ? {} : { 'aria-describedby': `${id}-${member}-help` })}
        onInput={({ currentTarget }) => change(member, currentTarget.value)}
      />
      {help !== '' && (
        <p class="quiet small" id={`${id}-${member}-help`}>
          {help}
        </p>
      )}
    </div>
  );

  return (
    <form class="card form appears" aria-label="New policy" onSubmit={propose}>
      {field('name', 'Name')}
      <div>
        <label for={`${id}-app`}>Apps</label>
        <select
          id={`${id}-app`}
          value={entered.appId}
          onChange={({ currentTarget }) => change('appId', currentTarget.value)}
        >
          <option value="">Every app, Wallet included</option>
          {[...overview.apps].map(([appId, name]) => (
            <option key={appId} value={appId}>
              {name}
            </option>
          ))}
        </select>
      </div>
      {field('recipients', 'Recipients', 'Names on this platform, separated by commas')}
      {field('perPayment', `At most, for one payment, in ${currency?.currency ?? ''}`)}
      {field('perDay', 'At most within 24 hours', 'Leave empty for no such limit', false)}
      {field('perMonth', 'At most within 30 days', 'Leave empty for no such limit', false)}
      <Failure text={problem} />
      <div class="row">
        <button type="submit" class="primary" aria-busy={busy}>
          Review policy
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
