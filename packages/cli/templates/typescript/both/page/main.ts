// The page. Through the SDK it reaches its backend, backend/server.ts.
import { App } from '@platform/sdk/browser';

const button = find<HTMLButtonElement>('#count');
const message = find('#message');

/** What the backend answers. */
interface Answer {
  readonly count: number;
}

try {
  const app = await App.connect();
  show(await app.backend.json<Answer>('/count'));
  button.addEventListener('click', async () => {
    try {
      show(await app.backend.json<Answer>('/count', { method: 'POST' }));
    } catch (error) {
      complain(error);
    }
  });
  button.disabled = false;
} catch (error) {
  complain(error);
}

function show({ count }: Answer): void {
  message.textContent = `Counted to ${count}.`;
}

function complain(error: unknown): void {
  message.textContent = error instanceof Error ? error.message : String(error);
}

function find<Wanted extends HTMLElement>(selector: string): Wanted {
  const found = document.querySelector<Wanted>(selector);
  if (found === null) throw new Error(`index.html has no ${selector}.`);
  return found;
}
