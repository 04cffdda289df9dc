// Looks whether the backend of the app in front rests until a person does something: when the app comes to the front, and
// for as long as it rests. An app that was opened all the same is left alone until the person comes back to it.
import { computed, effect, untracked } from '@preact/signals';
import { call } from '../api/client.ts';
import { needsPerson } from '../design/stopped-words.ts';
import { findApp } from './installed-apps.ts';
import { findOpen, frontApp, relaunch, rest } from './open-apps.ts';

const EVERY_MS = 3_000;

const frontBackend = computed(() => {
  const app = frontApp.value === null ? undefined : findApp(frontApp.value);
  return app?.hasFrontend && app.hasWorkload ? app.appId : null;
});

function isResting(appId: string): boolean {
  return findOpen(appId)?.phase === 'resting';
}

async function look(appId: string): Promise<void> {
  // Without an answer the app opens, and says itself what it cannot do.
  const status = await call('apps.status', { params: { appId } }).catch(() => null);
  if (status === null || frontApp.value !== appId) return;
  if (needsPerson(status)) rest(appId, status);
  else if (isResting(appId)) relaunch(appId);
}

/** @returns the end of it */
export function followResting(): () => void {
  const end = effect(() => {
    const appId = frontBackend.value;
    if (appId !== null) untracked(() => void look(appId));
  });
  const timer = setInterval(() => {
    const appId = frontBackend.value;
    if (appId !== null && isResting(appId) && !document.hidden) void look(appId);
  }, EVERY_MS);
  return () => {
    end();
    clearInterval(timer);
  };
}
