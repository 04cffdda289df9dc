// What apps and connected clients propose and nobody has decided on: read when the page begins and after each change. A new one is
// announced, once each; several at a time in one message.
import type { ShownProposal } from '@platform/contract';
import { signal } from '@preact/signals';
import { go } from '../../address/view.ts';
import { call, ONE_PAGE } from '../../api/client.ts';
import { dismissToast, showToast, toasts } from '../toasts/toasts.ts';
import { shownText, summaryOf } from './proposal-words.ts';

/** The newest first; `null` before they were read. */
export const pendingProposals = signal<readonly ShownProposal[] | null>(null);

let announced = new Set<string>();
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
  announce(answer.items);
}

/** The message that is shown, and what it is about. */
let message: { readonly id: number; readonly proposals: readonly string[] } | null = null;

/** Where what waits is listed. */
export function dismissAnnouncement(): void {
  if (message !== null) dismissToast(message.id);
  message = null;
}

function announce(pending: readonly ShownProposal[]): void {
  const news = pending.filter(({ id }) => !announced.has(id));
  announced = new Set(pending.map(({ id }) => id));
  const before = message !== null && toasts.value.some(({ id }) => id === message?.id) ? message.proposals : [];
  const about = pending.filter((one) => before.includes(one.id) || news.includes(one));
  if (news.length === 0 && about.length === before.length) return;
  dismissAnnouncement();
  const [first, ...others] = about;
  // The page that lists them needs no message beside it.
  if (first === undefined || location.hash === '#/settings/tools') return;
  const id = showToast({
    title: `${shownText(first.callerName)} asks for your approval`,
    body: `${summaryOf(first)}${others.length === 0 ? '' : `, and ${others.length} more`}`,
    action: {
      label: 'Look',
      run: () => (others.length === 0 ? void openProposal(first.id) : go({ kind: 'settings', path: 'tools' })),
    },
    urgent: true,
  });
  message = { id, proposals: about.map((one) => one.id) };
}

/** Opens the question about one of them. */
export async function openProposal(id: string): Promise<void> {
  const { askAboutProposal } = await import('./proposal-review.tsx');
  await askAboutProposal(id);
}
