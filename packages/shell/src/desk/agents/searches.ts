// Web searches that agents want to make and that wait for the person: each is put before them once, when the agent is in front or they
// press the message about it.
import type { WaitingWebSearch } from '@platform/contract';
import { effect, signal, untracked } from '@preact/signals';
import { ApiError } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { findOpen, frontApp } from '../../apps/frames/open-apps.ts';
import { findApp, nameOf } from '../../apps/installed-apps.ts';
import { ask, prompt } from '../prompts/ask.tsx';
import { dismissToast, showToast } from '../toasts/toasts.ts';
import { WebSearchReview } from './web-search-review.tsx';

interface Asking {
  readonly appId: string;
  readonly search: WaitingWebSearch;
}

const waiting = signal<readonly Asking[]>([]);
/** Those that the person wants to see though the agent is not in front. */
const called = signal<ReadonlySet<string>>(new Set());
/** The message about each. */
const announced = new Map<string, { readonly appId: string; readonly toast: number }>();
/** What the open question is about, and how it ends without an answer. */
let shown: { readonly appId: string; readonly id: string; readonly withdraw: () => void } | null = null;

/** Agents that are being read, and whether core said something of them since. */
const reading = new Map<string, { again: boolean }>();

/** Core said that this agent asks something else than before. One reading at a time: an older answer would undo a newer one. */
export async function followAgent(appId: string): Promise<void> {
  const under = reading.get(appId);
  if (under !== undefined) {
    under.again = true;
    return;
  }
  const mine = { again: true };
  reading.set(appId, mine);
  while (mine.again) {
    mine.again = false;
    await read(appId);
  }
  reading.delete(appId);
}

async function read(appId: string): Promise<void> {
  const found = await waitingOf(appId);
  if (found === null) return;
  const asking = found.map((search) => ({ appId, search }));
  const isAsked = (id: string) => asking.some(({ search }) => search.id === id);
  if (shown?.appId === appId && !isAsked(shown.id)) shown.withdraw();
  for (const [id, about] of announced) if (about.appId === appId && !isAsked(id)) forget(id, about.toast);
  // The one that is shown is no longer among those that wait for it.
  const others = asking.filter(({ search }) => search.id !== shown?.id);
  waiting.value = [...waiting.value.filter((one) => one.appId !== appId), ...others];
}

/** @returns `null` where that could not be read: what is shown stays */
async function waitingOf(appId: string): Promise<readonly WaitingWebSearch[] | null> {
  try {
    return (await call('apps.agent.read', { params: { appId } })).waiting;
  } catch (error) {
    return error instanceof ApiError && error.code === 'not_found' ? [] : null;
  }
}

// Also what came while its agent was in front, once that is in front no longer.
effect(() => {
  for (const one of waiting.value) if (frontApp.value !== one.appId) untracked(() => announce(one));
});

function forget(id: string, toast: number): void {
  announced.delete(id);
  dismissToast(toast);
}

function announce({ appId, search: { id } }: Asking): void {
  if (announced.has(id)) return;
  const toast = showToast({
    title: `${nameOf(appId)} wants to search the web`,
    body: 'It waits for your answer.',
    urgent: true,
    action: {
      label: 'Review',
      run: () => {
        called.value = new Set([...called.value, id]);
      },
    },
  });
  announced.set(id, { appId, toast });
}

effect(() => {
  if (prompt.value !== null) return;
  const next = waiting.value.find(({ appId, search }) => frontApp.value === appId || called.value.has(search.id));
  if (next !== undefined) show(next);
});

function show({ appId, search }: Asking): void {
  const { id } = search;
  waiting.value = waiting.value.filter((one) => one.search.id !== id);
  const about = announced.get(id);
  if (about !== undefined) forget(id, about.toast);
  const asker = {
    name: nameOf(appId),
    origin: findOpen(appId)?.origin ?? '',
    builtIn: findApp(appId)?.builtIn === true,
  };
  let isWithdrawn = false;
  const answered = ask(WebSearchReview, asker, { appId, search });
  const question = prompt.value?.id;
  const mine = {
    appId,
    id,
    withdraw: () => {
      isWithdrawn = true;
      if (prompt.value?.id === question) prompt.value?.answer(false);
    },
  };
  shown = mine;
  void answered.then((approved) => {
    if (shown === mine) shown = null;
    // Closed without an answer is a no, which the agent learns of at once.
    if (approved || isWithdrawn) return;
    const body = { answer: 'deny' } as const;
    void call('apps.agent.answer', { params: { appId, id }, body }).catch(() => undefined);
  });
}
