// Apps with `chrome: never` get the whole window. The person can always bring the bar back.
import { computed, effect, signal } from '@preact/signals';
import { findOpen, frontApp } from '../../apps/frames/open-apps.ts';

const barWanted = signal(false);

export const isImmersive = computed(() => {
  const appId = frontApp.value;
  return appId !== null && findOpen(appId)?.chrome === 'never' && findOpen(appId)?.phase !== 'failed';
});

export const isBarShown = computed(() => !isImmersive.value || barWanted.value);

export function showBar(): void {
  barWanted.value = true;
}

/** Another app in front begins without the bar again. */
effect(() => {
  void frontApp.value;
  barWanted.value = false;
});
