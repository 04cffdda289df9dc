// Looks whether the backend of the app in front rests until a person does something: when the app comes to the front, and
// for as long as it starts or rests. An app that was opened all the same is left alone until the person comes back to it.
import type { WorkloadDetail } from '@platform/contract';
import { computed, effect, untracked } from '@preact/signals';
import { call } from '../../api/client.ts';
import { needsPerson } from '../../design/stopped-words.ts';
import { findApp } from '../installed-apps.ts';
import { findOpen, frontApp, relaunch, rest } from './open-apps.ts';

const EVERY_MS = 3_000;

const frontBackend = computed(() => {
  const app = frontApp.value === null ? undefined : findApp(frontApp.value);
  return app?.hasFrontend && app.hasWorkload ? app.appId : null;
});

/** The app whose backend was starting at the last look. */
let starting: string | null = null;

function isResting(appId: string): boolean {
  return findOpen(appId)?.phase === 'resting';
}

async function look(appId: string): Promise<void> {
  const wasResting = isResting(appId);
  // Without an answer the app opens, and says itself what it cannot do.
  const status = await call('apps.status', { params: { appId } }).catch(() => null);
  // Meanwhile the person may have gone elsewhere, or opened the app all the same.
  if (status !== null && frontApp.value === appId && isResting(appId) === wasResting) followStatus(appId, status);
}

/** Core said what the backend of the app in front does. */
export function followStatus(appId: string, status: WorkloadDetail): void {
  starting = status.state === 'starting' ? appId : null;
  if (needsPerson(status)) rest(appId, status);
  else if (isResting(appId)) relaunch(appId);
}

/** @returns the end of it */
export function followResting(): () => void {
  const end = effect(() => {
    const appId = frontBackend.value;
    starting = null;
    if (appId !== null) untracked(() => void look(appId));
  });
  const timer = setInterval(() => {
    const appId = frontBackend.value;
    if (appId !== null && (isResting(appId) || starting === appId) && !document.hidden) void look(appId);
  }, EVERY_MS);
  return () => {
    end();
    clearInterval(timer);
  };
}
