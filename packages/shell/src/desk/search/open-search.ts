// Opens the search for an app in front that passes the key on. It must be the person who pressed something in it, and all
// that follows is in their hands: what an app can do with this is show them the search.

import { createCallLimit } from '../../apps/bridge/call-limit.ts';
import { BridgeRefusal } from '../../apps/bridge/refusal.ts';

/** News of a press in a frame of another process takes another way than its message, and may come after it. */
const NEWS_MS = 200;

const limit = createCallLimit(() => performance.now(), { calls: 10, windowMs: 10_000 });

type Open = (frame: HTMLIFrameElement) => void;

let open: Open | null = null;
/** The frame that asked before the search was drawn. */
let asking: HTMLIFrameElement | null = null;

/** The search is on the page. @returns a function for when it no longer is */
export function followAsking(begin: Open): () => void {
  open = begin;
  if (asking !== null) begin(asking);
  asking = null;
  return () => {
    open = null;
  };
}

/** A browser that does not say so is believed: no more than the search can come of it. */
function wasPressed(): boolean {
  return navigator.userActivation === undefined || navigator.userActivation.isActive;
}

/** @param show brings the bar, in which the search is, where an app has the whole window */
export async function openSearchFor(appId: string, show: () => void): Promise<void> {
  limit.count(appId);
  if (!wasPressed()) await new Promise((resolve) => setTimeout(resolve, NEWS_MS));
  const frame = document.activeElement;
  // With the focus elsewhere, whoever presses a key does so in the shell.
  if (!wasPressed() || !(frame instanceof HTMLIFrameElement)) {
    throw new BridgeRefusal('not_authorized', 'Only a press of the person in this app opens the search.');
  }
  if (open !== null) open(frame);
  else {
    asking = frame;
    show();
  }
}
