// The address to which a client outside the platform sends its person (`#/connect/<request>`): the question whether it may connect.
import { ApiError, plainMessage } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { pausedAt } from '../../apps/pause.ts';
import { prompt } from '../prompts/ask.tsx';
import { showToast } from '../toasts/toasts.ts';

const ADDRESS = /^#\/connect\/([\w-]{1,64})$/;

/**
 * Asks about the request in the address, now and whenever it changes, as soon as `ready` knows the apps of the account.
 *
 * @returns a function that ends it
 */
export function followConnectAddress(ready: Promise<unknown>): () => void {
  const open = () => {
    const id = ADDRESS.exec(location.hash)?.[1];
    if (id === undefined) return;
    // Once: neither reloading nor going back asks again.
    history.replaceState(null, '', '#/');
    void ready
      .catch(() => undefined)
      .then(resumed)
      .then(() => ask(id));
  };
  window.addEventListener('hashchange', open);
  open();
  return () => window.removeEventListener('hashchange', open);
}

/** The paused page has no room for a question. */
function resumed(): Promise<void> {
  return new Promise((resolve) => {
    const stop = pausedAt.subscribe((since) => {
      if (typeof since === 'string') return;
      resolve();
      queueMicrotask(() => stop());
    });
  });
}

async function ask(id: string): Promise<void> {
  try {
    const [request, { askToConnect }] = await Promise.all([
      call('account.connectionRequests.read', { params: { id } }),
      import('./connection-review.tsx'),
    ]);
    if (prompt.value === null) await askToConnect(id, request);
    else notAsked('Another question was open. Answer it, then connect again in the client.');
  } catch (error) {
    const isGone = error instanceof ApiError && error.status === 404;
    notAsked(isGone ? 'The request has expired or was decided. Connect again in the client.' : plainMessage(error));
  }
}

function notAsked(body: string): void {
  showToast({ title: 'The client is not connected', body, tone: 'danger' });
}
