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

/** More pages than that nobody decides on; a page is short where the arguments are long. */
const PAGES = 20;

async function read(): Promise<void> {
  const items: ShownProposal[] = [];
  try {
    for (let page = 0, cursor: string | undefined; page < PAGES; page += 1) {
      const query = { ...ONE_PAGE.query, state: 'pending', cursor };
      const answer = await call('account.proposals.list', { query });
      items.push(...answer.items);
      if (answer.nextCursor === null) break;
      cursor = answer.nextCursor;
    }
  } catch {
    return; // The next change reads them; the page in Settings says so where it cannot.
  }
  pendingProposals.value = items;
}
