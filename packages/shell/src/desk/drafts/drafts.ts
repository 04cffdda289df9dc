// Apps that apps made and that wait for the person, as this page knows them.
import type { Draft } from '@platform/contract';
import { signal } from '@preact/signals';
import { plainMessage } from '../../api/api-error.ts';
import { call, ONE_PAGE } from '../../api/client.ts';
import { frontApp } from '../../apps/frames/open-apps.ts';
import { nameOf } from '../../apps/installed-apps.ts';
import { dismissToast, showToast } from '../toasts/toasts.ts';

/** The message about each. */
const announced = new Map<string, number>();

/** `null` until the first answer. */
export const drafts = signal<readonly Draft[] | null>(null);

/** @throws ApiError */
export async function readDrafts(): Promise<readonly Draft[]> {
  const { items } = await call('account.drafts.list', ONE_PAGE);
  drafts.value = items;
  for (const [id, toast] of announced) if (!items.some((draft) => draft.id === id)) forget(id, toast);
  return items;
}

/** Core said that there are others: the person learns of new ones, whichever app they look at. */
export async function followDrafts(): Promise<void> {
  const known = new Set(drafts.value?.map(({ id }) => id));
  const isFirst = drafts.value === null;
  const found = await readDrafts().catch(() => []);
  if (isFirst) return;
  for (const draft of found.filter(({ id }) => !known.has(id))) announce(draft);
}

function forget(id: string, toast: number): void {
  announced.delete(id);
  dismissToast(toast);
}

/** The app in front shows what it made itself. */
function announce({ id, name, madeBy, installed }: Draft): void {
  if (frontApp.value === madeBy) return;
  const toast = showToast({
    title: installed === null ? `${nameOf(madeBy)} made an app: ${name}` : `${nameOf(madeBy)} changed ${name}`,
    body: 'Look at it and decide whether you want it. It also waits in Settings → Apps.',
    urgent: true,
    action: { label: 'Review', run: () => void review(id) },
  });
  announced.set(id, toast);
}

/** Shows the review. What keeps it from being shown is said. */
export async function review(id: string): Promise<void> {
  try {
    // Apart from the first load, as the reviews of installations.
    const { askAboutDraft } = await import('./ask-about-draft.ts');
    await askAboutDraft(id, null);
  } catch (error) {
    showToast({ title: 'It could not be shown', body: plainMessage(error), tone: 'danger' });
  }
}
