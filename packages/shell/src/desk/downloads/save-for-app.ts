// Saves a file that an app hands over: at once if the person has just pressed something in it, and otherwise after a question.
import { effect } from '@preact/signals';
import { createFramePresses } from '../../apps/frame-presses.ts';
import { frontApp } from '../../apps/frames/open-apps.ts';
import { saveFile } from '../../session/save-file.ts';
import type { Asker } from '../prompts/ask.tsx';
import { askToSave } from '../prompts/download-review.tsx';

/** News of a press in a frame of another process takes another way than its message, and may come after it. */
const NEWS_MS = 200;

const presses = createFramePresses(
  () => performance.now(),
  // A browser without it tells nothing, and the shell asks.
  () => navigator.userActivation?.isActive === true,
);

/** From the start on, so that no press of before is taken for one in a frame. */
export function followPresses(): void {
  for (const type of ['pointerdown', 'pointerup', 'keydown'])
    window.addEventListener(type, presses.pressed, { capture: true, passive: true });
  effect(() => {
    void frontApp.value;
    presses.changed();
  });
}

/** @returns whether it was saved */
export async function saveForApp(asker: Asker, file: Blob, name: string): Promise<boolean> {
  // What it is called by the app says nothing to the browser, which would show some kinds.
  const plain = new Blob([file], { type: 'application/octet-stream' });
  if (!presses.take()) {
    await new Promise((resolve) => setTimeout(resolve, NEWS_MS));
    if (!presses.take()) return askToSave(plain, name, asker);
  }
  saveFile(plain, name);
  return true;
}
