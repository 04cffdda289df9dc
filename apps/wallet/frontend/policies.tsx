// Limits on what apps may propose: those that hold, and a new one.
import type { App, Policy } from '@platform/sdk/browser';
import { useState } from 'preact/hooks';
import { AskFirst } from '../../shared/ask-first.tsx';
import { PolicyForm } from './policy-form.tsx';
import type { Overview, useWallet } from './use-wallet.ts';
import { appText, policyText, whenText } from './words.ts';

interface PoliciesProps {
  readonly app: App;
  readonly wallet: ReturnType<typeof useWallet>;
  readonly overview: Overview;
  readonly onSaid: (text: string) => void;
}

export function Policies({ app, wallet, overview, onSaid }: PoliciesProps) {
  const [isNew, setNew] = useState(false);
  const { policies } = overview;
  return (
    <section aria-label="Policies">
      <div class="row between tools">
        <p class="quiet grow">
          A policy limits what apps may propose. It never pays: each payment still needs your passkey.
        </p>
        {!isNew && (
          <button type="button" onClick={() => setNew(true)}>
            New policy
          </button>
        )}
      </div>
      {isNew && (
        <PolicyForm
          app={app}
          overview={overview}
          act={wallet.act}
          onDone={(text) => {
            onSaid(text);
            setNew(false);
          }}
          onCancel={() => setNew(false)}
        />
      )}
      {policies.length === 0 && !isNew && (
        <p>There is none: every app that you allow to propose payments may propose any amount to anyone.</p>
      )}
      {policies.length > 0 && policies.every(({ appIds }) => appIds !== null) && (
        <p class="quiet">Apps that no policy names may propose any amount to anyone.</p>
      )}
      <ul class="plain entries">
        {policies.map((policy) => (
          <li key={policy.id} class="card request">
            <One policy={policy} overview={overview} />
            <AskFirst
              word="Remove"
              name={policy.name}
              question="Remove this limit?"
              yes="Yes, remove"
              onYes={() => void wallet.removePolicy(policy.id).then(() => onSaid(`“${policy.name}” was removed.`))}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

function One({ policy, overview }: { readonly policy: Policy; readonly overview: Overview }) {
  const { appIds, expiresAt, name } = policy;
  const apps = appIds === null ? 'Every app' : appIds.map((appId) => appText(appId, overview.apps)).join(', ');
  const isOver = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
  return (
    <div class="entry-text">
      <p>
        <strong>{name}</strong>
      </p>
      {isOver ? (
        <>
          <p>
            <span class="badge warn">Ended</span> It admits nothing any more, and its apps stay limited until you remove
            it.
          </p>
          <p class="quiet small">It was: {policyText(policy, overview.balances)}</p>
        </>
      ) : (
        <p>{policyText(policy, overview.balances)}</p>
      )}
      <p class="quiet small">
        {apps}
        {expiresAt !== null && ` · ${isOver ? 'ended' : 'until'} ${whenText(expiresAt)}`}
      </p>
    </div>
  );
}
