// Announces what is proposed while the shell is open: once each, several in one message, which goes when they are decided.
import type { ShownProposal } from '@platform/contract';
import { go } from '../../address/view.ts';
import { dismissToast, showToast, toasts } from '../toasts/toasts.ts';
import { followProposals, pendingProposals } from './pending-proposals.ts';
import { proposerOf, summaryOf } from './proposal-words.ts';

let announced = new Set<string>();
/** When each of those who propose was announced last: an app that asks again and again does not stay in the way. */
let lastAsked = new Map<string, number>();
const AGAIN_MILLISECONDS = 60_000;

/** Of the account that is signed in now. */
export function announceProposals(): { readonly follow: () => void; readonly end: () => void } {
  announced = new Set();
  lastAsked = new Map();
  // Those of the account before.
  pendingProposals.value = null;
  const end = pendingProposals.subscribe((pending) => announce(pending ?? []));
  return { follow: () => void followProposals(), end };
}

/** The message that is shown, and what it is about. */
let message: { readonly id: number; readonly proposals: readonly string[] } | null = null;

/** Where what waits is listed. */
export function dismissAnnouncement(): void {
  if (message !== null) dismissToast(message.id);
  message = null;
}

function isRecent(caller: string): boolean {
  return Date.now() - (lastAsked.get(caller) ?? 0) < AGAIN_MILLISECONDS;
}

function announce(pending: readonly ShownProposal[]): void {
  const news = pending.filter(({ id }) => !announced.has(id));
  announced = new Set(pending.map(({ id }) => id));
  const before = message !== null && toasts.value.some(({ id }) => id === message?.id) ? message.proposals : [];
  const about = pending.filter((one) => before.includes(one.id) || news.includes(one));
  if (news.length === 0 && about.length === before.length) return;
  if (news.length > 0 && news.every(({ caller }) => isRecent(caller))) return;
  for (const { caller } of news) lastAsked.set(caller, Date.now());
  dismissAnnouncement();
  const [first, ...others] = about;
  // The page that lists them needs no message beside it.
  if (first === undefined || location.hash === '#/settings/tools') return;
  const id = showToast({
    title: `${proposerOf(first)} asks for your approval`,
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
