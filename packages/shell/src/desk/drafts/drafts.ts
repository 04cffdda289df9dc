// Apps that apps made and that wait for the person, as this page knows them.
import type { Draft } from '@platform/contract';
import { signal } from '@preact/signals';
import { plainMessage } from '../../api/api-error.ts';
import { call, ONE_PAGE } from '../../api/client.ts';
import { frontApp } from '../../apps/frames/open-apps.ts';
import { nameOf } from '../../apps/installed-apps.ts';
import { dismissToast, showToast } from '../toasts/toasts.ts';

/** The message about what each app made of one id, however often it hands that in until the person decides. */
const announced = new Map<string, number>();

/** `null` until the first answer. */
export const drafts = signal<readonly Draft[] | null>(null);

/** @throws ApiError */
export async function readDrafts(): Promise<readonly Draft[]> {
  const { items } = await call('account.drafts.list', ONE_PAGE);
  drafts.value = items;
  for (const [matter, toast] of announced)
    if (!items.some((draft) => matterOf(draft) === matter)) forget(matter, toast);
  return items;
}

/** Core said that there are others: the person learns of new ones, whichever app they look at. */
export async function followDrafts(): Promise<void> {
  const known = new Set(drafts.value?.map(matterOf));
  const isFirst = drafts.value === null;
  const found = await readDrafts().catch(() => []);
  if (isFirst) return;
  for (const draft of found.filter((one) => !known.has(matterOf(one)))) announce(draft);
}

function matterOf({ madeBy, appId }: Draft): string {
  return `${madeBy} ${appId}`;
}

function forget(matter: string, toast: number): void {
  announced.delete(matter);
  dismissToast(toast);
}

/** The app in front shows what it made itself. */
function announce(draft: Draft): void {
  const { name, madeBy, installed } = draft;
  const matter = matterOf(draft);
  if (frontApp.value === madeBy) return;
  const toast = showToast({
    title: installed === null ? `${nameOf(madeBy)} made an app: ${name}` : `${nameOf(madeBy)} changed ${name}`,
    body: 'Look at it and decide whether you want it. It also waits in Settings → Apps.',
    urgent: true,
    action: { label: 'Review', run: () => void reviewLast(matter, draft.id) },
  });
  announced.set(matter, toast);
}

/** The one that waits now: it may have taken the place of the one that was announced. */
function reviewLast(matter: string, announcedId: string): Promise<void> {
  return review(drafts.value?.find((draft) => matterOf(draft) === matter)?.id ?? announcedId);
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
