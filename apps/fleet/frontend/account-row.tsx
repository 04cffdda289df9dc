// One account: in one line what matters, and on request what takes its disk space and what can be done.
import type { ListedAccount } from '@platform/sdk/browser';
import { onDay } from '@platform/shell/words';
import { useId } from 'preact/hooks';
import { AccountActions, type AccountChange } from './account-actions.tsx';
import { DiskByApp } from './disk-by-app.tsx';
import { Facts } from './parts.tsx';
import { ago, counted, sizeText } from './words.ts';

interface RowProps {
  readonly account: ListedAccount;
  readonly isOpen: boolean;
  readonly busy: boolean;
  readonly onToggle: () => void;
  /** @param done what to say when it was done */
  readonly onChange: (change: AccountChange, done: string) => void;
}

export function AccountRow({ account, isOpen, busy, onToggle, onChange }: RowProps) {
  const { name, apps, diskBytes, sessions } = account;
  const id = useId();
  return (
    <li class="card stack">
      <div class="row between">
        <div class="grow">
          <h2 class="row">
            {name} <Badges account={account} />
          </h2>
          <p class="quiet small">
            {counted(apps, 'app')} · {sizeText(diskBytes)} of disk · {counted(sessions, 'session')} ·{' '}
            {lastSeen(account)}
          </p>
        </div>
        <button type="button" aria-expanded={isOpen} aria-controls={id} onClick={onToggle}>
          {isOpen ? 'Close' : 'Manage'}
          <span class="only-read"> {name}</span>
        </button>
      </div>
      <div id={id} hidden={!isOpen} class="stack">
        {isOpen && (
          <>
            <Facts
              items={[
                ['Plan', planWords(account)],
                ['Registered', onDay(account.createdAt)],
              ]}
            />
            <DiskByApp account={account} />
            <AccountActions account={account} busy={busy} onChange={onChange} />
          </>
        )}
      </div>
    </li>
  );
}

function Badges({ account: { state, plan, master, deletesAt } }: { readonly account: ListedAccount }) {
  return (
    <>
      {state === 'active' && <span class="badge good">active</span>}
      {state === 'paused' && <span class="badge warn">paused by its owner</span>}
      {state === 'suspended' && <span class="badge danger">suspended</span>}
      <span class="badge">{plan} plan</span>
      {master && <span class="badge">master account</span>}
      {deletesAt !== null && <span class="badge danger">will be deleted on {onDay(deletesAt)}</span>}
    </>
  );
}

function planWords({ plan, ownPlan }: ListedAccount): string {
  const word = plan === 'paid' ? 'Paid' : 'Free';
  return ownPlan ? word : `${word} (default)`;
}

function lastSeen({ lastSeenAt }: ListedAccount): string {
  return lastSeenAt === null ? 'not signed in' : `last seen ${ago(lastSeenAt)}`;
}
