// Web searches that agents want to make and that wait for the person: each is put before them once, when the agent is in front or they
// press the message about it.
import type { WaitingWebSearch } from '@platform/contract';
import { effect, signal } from '@preact/signals';
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
const announced = new Map<string, number>();
/** What the open question is about, and how it ends without an answer. */
let shown: { readonly id: string; readonly withdraw: () => void } | null = null;

/** Core said that this agent asks something else than before. */
export async function followAgent(appId: string): Promise<void> {
  const view = await call('apps.agent.read', { params: { appId } }).catch(() => null);
  const asking = (view?.waiting ?? []).map((search) => ({ appId, search }));
  waiting.value = [...waiting.value.filter((one) => one.appId !== appId), ...asking];
  const ids = new Set(waiting.value.map(({ search }) => search.id as string));
  if (shown !== null && !ids.has(shown.id)) shown.withdraw();
  for (const [id, toast] of announced) if (!ids.has(id)) forget(id, toast);
  for (const one of asking) if (frontApp.value !== appId) announce(one);
}

function forget(id: string, toast: number): void {
  announced.delete(id);
  dismissToast(toast);
}

function announce({ appId, search: { id } }: Asking): void {
  if (announced.has(id) || shown?.id === id) return;
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
  announced.set(id, toast);
}

effect(() => {
  if (prompt.value !== null) return;
  const next = waiting.value.find(({ appId, search }) => frontApp.value === appId || called.value.has(search.id));
  if (next !== undefined) show(next);
});

function show({ appId, search }: Asking): void {
  const { id } = search;
  waiting.value = waiting.value.filter((one) => one.search.id !== id);
  const toast = announced.get(id);
  if (toast !== undefined) forget(id, toast);
  const asker = {
    name: nameOf(appId),
    origin: findOpen(appId)?.origin ?? '',
    builtIn: findApp(appId)?.builtIn === true,
  };
  let isWithdrawn = false;
  const answered = ask(WebSearchReview, asker, { appId, search });
  const question = prompt.value?.id;
  shown = {
    id,
    withdraw: () => {
      isWithdrawn = true;
      if (prompt.value?.id === question) prompt.value?.answer(false);
    },
  };
  void answered.then((approved) => {
    shown = null;
    // Closed without an answer is a no, which the agent learns of at once.
    if (approved || isWithdrawn) return;
    const body = { answer: 'deny' } as const;
    void call('apps.agent.answer', { params: { appId, id }, body }).catch(() => undefined);
  });
}
