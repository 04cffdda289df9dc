// The page.
import { App } from '@platform/sdk/browser';

const button = find<HTMLButtonElement>('#count');
const message = find('#message');

try {
  const app = await App.connect();
  // The platform unloads the page when the person goes to another app. What app.state keeps is there when they return.
  let count = (await app.state.get<number>()) ?? 0;
  show(count);
  button.addEventListener('click', async () => {
    count += 1;
    show(count);
    await app.state.set(count).catch(complain);
  });
  button.disabled = false;
} catch (error) {
  complain(error);
}

function show(count: number): void {
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
