// What apps proposed: what waits is decided in the shell's review.
import type { ShownWalletProposal } from '@platform/sdk/browser';
import type { Overview, useWallet } from './use-wallet.ts';
import { appText, proposalTitle, STATES, whenText } from './words.ts';

interface RequestsProps {
  readonly wallet: ReturnType<typeof useWallet>;
  readonly overview: Overview;
}

export function Requests({ wallet, overview }: RequestsProps) {
  const { proposals } = overview;
  if (proposals.length === 0)
    return (
      <section class="card below stack" aria-label="Requests">
        <p>No app proposed anything.</p>
        <p class="quiet">
          When one wants to be paid, it waits here for 24 hours. Nothing is paid without your passkey.
        </p>
      </section>
    );
  return (
    <section aria-label="Requests">
      <ul class="plain entries">
        {proposals.map((proposal) => (
          <li key={proposal.id} class="card request">
            <Request proposal={proposal} overview={overview} />
            {proposal.state === 'pending' && (
              <button
                type="button"
                class="primary"
                aria-label={`Review ${proposalTitle(proposal, overview.balances, overview.address)}`}
                onClick={() => void wallet.review(proposal.id)}
              >
                Review
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Request({ proposal, overview }: { readonly proposal: ShownWalletProposal; readonly overview: Overview }) {
  const { appId, createdAt, expiresAt, state, operation } = proposal;
  const reference = operation.type === 'platform.wallet.payment.v1' ? operation.reference : null;
  return (
    <div class="entry-text">
      <p>
        <strong>{proposalTitle(proposal, overview.balances, overview.address)}</strong>
      </p>
      {reference !== null && <p>{reference}</p>}
      <p class="quiet small">
        {appText(appId, overview.apps)} · {whenText(createdAt)}
        {state === 'pending' && ` · open until ${whenText(expiresAt)}`}
      </p>
      <p class="small">
        <span class={state === 'pending' ? 'badge warn' : state === 'executed' ? 'badge good' : 'badge'}>
          {STATES[state]}
        </span>
      </p>
    </div>
  );
}
