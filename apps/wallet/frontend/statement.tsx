// The statement: every entry, the newest first, with its receipt, and the whole as a file.
import type { WalletEntry } from '@platform/sdk/browser';
import { useState } from 'preact/hooks';
import { Person } from '../../shared/person.tsx';
import { ReceiptView } from './receipt-view.tsx';
import type { Overview, useWallet } from './use-wallet.ts';
import { appText, currencyOf, moneyText, otherOf, whenText } from './words.ts';

interface StatementProps {
  readonly wallet: ReturnType<typeof useWallet>;
  readonly overview: Overview;
  readonly search: string;
  readonly onSearch: (words: string) => void;
}

export function StatementView({ wallet, overview, search, onSearch }: StatementProps) {
  const { statement } = wallet;
  const [open, setOpen] = useState('');
  return (
    <section aria-label="Statement">
      <div class="row between tools">
        <label class="grow">
          <span class="only-read">Search the statement</span>
          <input
            type="search"
            value={search}
            maxLength={100}
            placeholder="Search"
            onInput={({ currentTarget }) => onSearch(currentTarget.value)}
          />
        </label>
        <button type="button" onClick={() => void wallet.save('csv')}>
          Save as CSV
        </button>
        <button type="button" onClick={() => void wallet.save('json')}>
          Save as JSON
        </button>
      </div>
      {statement?.entries.length === 0 && (
        <p class="quiet">
          {search === ''
            ? 'Nothing was paid or received yet. Credits come from the operator of this platform, or from others here.'
            : 'No entry has these words.'}
        </p>
      )}
      <ul class="plain entries">
        {statement?.entries.map((entry) => (
          <li key={entry.id} class="card">
            <Entry entry={entry} overview={overview} />
            {entry.receiptId !== null && (
              <button
                type="button"
                class="link"
                aria-expanded={open === entry.id}
                aria-label={`${open === entry.id ? 'Close receipt' : 'Receipt'} of ${moneyOf(entry, overview)}, ${whenText(entry.at)}`}
                onClick={() => setOpen(open === entry.id ? '' : entry.id)}
              >
                {open === entry.id ? 'Close receipt' : 'Receipt'}
              </button>
            )}
            {open === entry.id && entry.receiptId !== null && (
              <ReceiptView read={wallet.receipt} id={entry.receiptId} overview={overview} />
            )}
          </li>
        ))}
      </ul>
      {statement !== undefined && statement.nextCursor !== null && (
        <button type="button" onClick={() => void wallet.readOn()}>
          Show more
        </button>
      )}
    </section>
  );
}

function moneyOf({ amount }: WalletEntry, { balances }: Overview): string {
  return moneyText(amount.value, currencyOf(amount.currency, balances));
}

function Entry({ entry, overview }: { readonly entry: WalletEntry; readonly overview: Overview }) {
  const { appId, balance, reference, at, amount } = entry;
  const other = otherOf(entry, overview.address);
  const isIncome = !amount.value.startsWith('-');
  return (
    <div class="entry">
      <Person address={other} />
      <div class="entry-text">
        <p>
          <strong>{other}</strong>
        </p>
        {reference !== null && <p>{reference}</p>}
        <p class="quiet small">
          {whenText(at)}
          {appId !== null && ` · by ${appText(appId, overview.apps)}`}
        </p>
      </div>
      <div class="entry-amount">
        <p class={isIncome ? 'income' : ''}>
          <strong>
            {isIncome ? '+' : ''}
            {moneyOf(entry, overview)}
          </strong>
        </p>
        <p class="quiet small">Balance {moneyText(balance.value, currencyOf(balance.currency, overview.balances))}</p>
      </div>
    </div>
  );
}
