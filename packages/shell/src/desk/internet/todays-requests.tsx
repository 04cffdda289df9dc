// How many requests came from the internet today, and what was refused and why.
import type { PublicRequests } from '@platform/contract';
import { refusalInWords } from './refusal-words.ts';

const number = new Intl.NumberFormat('en');

export function TodaysRequests({ requests: { requests, refused } }: { readonly requests: PublicRequests }) {
  const refusals = Object.entries(refused)
    .filter(([, amount]) => amount > 0)
    .sort(([, one], [, other]) => other - one);
  const total = refusals.reduce((sum, [, amount]) => sum + amount, 0);
  return (
    <section class="block" aria-labelledby="requests-title">
      <h3 id="requests-title">Requests today</h3>
      <dl class="figures">
        <div>
          <dt>Let through</dt>
          <dd>{number.format(requests)}</dd>
        </div>
        <div>
          <dt>Refused</dt>
          <dd>{number.format(total)}</dd>
        </div>
      </dl>
      {refusals.length > 0 && (
        <ul class="rows refusals">
          {refusals.map(([code, amount]) => (
            <li key={code} class="row">
              <span class="row-text">{refusalInWords(code)}</span>
              <span class="amount">{number.format(amount)}</span>
            </li>
          ))}
        </ul>
      )}
      <p class="quiet-text">Since midnight UTC, up to a minute late.</p>
    </section>
  );
}
