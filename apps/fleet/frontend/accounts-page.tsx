// Everybody who has an account, by name: what each takes, and what the operator can do about it.
import type { App } from '@platform/sdk/browser';
import { useEffect, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { useKept } from '../../shared/kept.ts';
import { AccountRow } from './account-row.tsx';
import { Outcome, useActions } from './use-actions.tsx';
import { usePages } from './use-pages.ts';

const TYPING_MILLISECONDS = 150;

export function AccountsPage({ app }: { readonly app: App }) {
  const [typed, setTyped] = useKept<string>('account', '');
  const wanted = useLater(typed.trim().toLowerCase());
  const { items, hasMore, failure, reload, more } = usePages(app, wanted, (page) =>
    app.systemAccounts(wanted === '' ? page : { ...page, name: wanted }),
  );
  const [open, setOpen] = useState('');
  const actions = useActions(reload);
  return (
    <>
      <label class="field">
        Find by name
        <input
          type="search"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          maxLength={32}
          value={typed}
          onInput={(event) => {
            actions.forget();
            setTyped(event.currentTarget.value);
          }}
        />
      </label>
      <Outcome actions={actions} />
      <Failure text={failure} />
      {items?.length === 0 && (
        <p class="card">{wanted === '' ? 'No accounts yet.' : `No account has “${wanted}” in its name.`}</p>
      )}
      <ul class="plain list" aria-label="Accounts">
        {items?.map((account) => (
          <AccountRow
            key={account.name}
            account={account}
            isOpen={open === account.name}
            busy={actions.busy}
            onToggle={() => {
              actions.forget();
              setOpen(open === account.name ? '' : account.name);
            }}
            onChange={(change, done) =>
              void actions.run(
                async () => (await app.bridge.call('system.changeAccount', { name: account.name, change })).changed,
                done,
              )
            }
          />
        ))}
      </ul>
      {hasMore && (
        <button type="button" onClick={() => void more()}>
          Show more
        </button>
      )}
    </>
  );
}

/** The value once it has stayed the same for a moment. */
function useLater(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
