// Wallet: what the person has, what happened, what waits for them, and what apps may propose. Every payment is reviewed by the shell.
import type { App } from '@platform/sdk/browser';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { useKept } from '../../shared/kept.ts';
import { startApp } from '../../shared/start-app.tsx';
import { useFoundBySearch } from './found-by-search.ts';
import { MyAddress } from './my-address.tsx';
import { PayForm } from './pay-form.tsx';
import { Policies } from './policies.tsx';
import { Requests } from './requests.tsx';
import { StatementView } from './statement.tsx';
import { useWallet } from './use-wallet.ts';
import { moneyText } from './words.ts';

startApp(Wallet);

const VIEWS = [
  ['statement', 'Statement'],
  ['requests', 'Requests'],
  ['policies', 'Policies'],
] as const;

function Wallet({ app }: { readonly app: App }) {
  const [view, setView] = useKept<string>('view', 'statement');
  const [open, setOpen] = useKept<string>('open', '');
  const [search, setSearch] = useKept<string>('search', '');
  const [said, setSaid] = useState('');
  const wallet = useWallet(app, search);
  const { overview, failure } = wallet;
  const pay = useRef<HTMLButtonElement>(null);
  useFoundBySearch(app, wallet.statement?.entries, search);

  /** A notification or a search result opened the app with what to show. */
  useEffect(() => {
    const go = (target: string | null) => {
      const asked = new URLSearchParams(target ?? '');
      const proposal = asked.get('proposal');
      const words = asked.get('search');
      if (proposal !== null) {
        setView('requests');
        void wallet.review(proposal);
      } else if (words !== null) {
        setView('statement');
        setSearch(words);
      } else if (asked.get('view') === 'statement') setView('statement');
    };
    go(app.context.target ?? null);
    return app.on('target', ({ target }) => go(target));
  }, []);

  const waiting = overview?.proposals.filter(({ state }) => state === 'pending').length ?? 0;
  const close = () => {
    setOpen('');
    pay.current?.focus();
  };
  return (
    <main>
      <div class="row between">
        <h1>Wallet</h1>
        <div class="row">
          <button
            type="button"
            aria-expanded={open === 'address'}
            onClick={() => setOpen(open === 'address' ? '' : 'address')}
          >
            Receive
          </button>
          <button ref={pay} type="button" class="primary" onClick={() => setOpen('pay')}>
            Pay
          </button>
        </div>
      </div>
      <Failure text={failure} />
      <p class="only-read" aria-live="polite">
        {said}
      </p>
      {overview !== undefined && (
        <section class="card balance" aria-label="Balance">
          {overview.balances.map((one) => (
            <p key={one.currency} class="amount">
              {moneyText(one.balance, one)}
            </p>
          ))}
          <p class="quiet address">{overview.address}</p>
        </section>
      )}
      {open === 'address' && overview !== undefined && <MyAddress address={overview.address} />}
      {open === 'pay' && overview !== undefined && (
        <PayForm
          app={app}
          overview={overview}
          act={wallet.act}
          onDone={(text) => {
            setSaid(text);
            close();
          }}
          onCancel={close}
        />
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would frame the buttons. */}
      <div class="segments views" role="group" aria-label="What is shown">
        {VIEWS.map(([name, title]) => (
          <button key={name} type="button" aria-pressed={view === name} onClick={() => setView(name)}>
            {title}
            {name === 'requests' && waiting > 0 && <span class="count">{waiting}</span>}
          </button>
        ))}
      </div>
      {overview !== undefined && view === 'statement' && (
        <StatementView wallet={wallet} overview={overview} search={search} onSearch={setSearch} />
      )}
      {overview !== undefined && view === 'requests' && <Requests wallet={wallet} overview={overview} />}
      {overview !== undefined && view === 'policies' && (
        <Policies app={app} wallet={wallet} overview={overview} onSaid={setSaid} />
      )}
    </main>
  );
}
