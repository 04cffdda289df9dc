// What apps and connected clients propose and nobody has decided on: read when the page begins and after each change.
import type { ShownProposal } from '@platform/contract';
import { signal } from '@preact/signals';
import { call, ONE_PAGE } from '../../api/client.ts';

/** The newest first; `null` before they were read. */
export const pendingProposals = signal<readonly ShownProposal[] | null>(null);

let reading: Promise<void> | null = null;
let again = false;

/** Reads them anew; of calls meanwhile, one more follows. Never rejects. */
export function followProposals(): Promise<void> {
  again = true;
  reading ??= (async () => {
    while (again) {
      again = false;
      await read();
    }
    reading = null;
  })();
  return reading;
}

async function read(): Promise<void> {
  const answer = await call('account.proposals.list', { query: { ...ONE_PAGE.query, state: 'pending' } }).catch(
    () => null,
  );
  // The next change reads them; the page in Settings says so where it cannot.
  if (answer === null) return;
  pendingProposals.value = answer.items;
}
