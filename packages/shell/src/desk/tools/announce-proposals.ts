// Announces what is proposed while the shell is open: once each, several in one message, which goes when they are decided.
import type { ShownProposal } from '@platform/contract';
import { go } from '../../address/view.ts';
import { visibleText } from '../../design/visible-text.ts';
import { dismissToast, showToast, toasts } from '../toasts/toasts.ts';
import { pendingProposals } from './pending-proposals.ts';
import { summaryOf } from './proposal-words.ts';

let announced = new Set<string>();

/** Of the account that is signed in now. @returns a function that ends it */
export function announceProposals(): () => void {
  announced = new Set();
  // Those of the account before.
  pendingProposals.value = null;
  return pendingProposals.subscribe((pending) => announce(pending ?? []));
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
    title: `${visibleText(first.callerName)} asks for your approval`,
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
