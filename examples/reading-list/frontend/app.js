// The page of Reading List. Everything it knows it asks of its own backend, workload/server.mjs.
import { App } from './platform-sdk.js';

const form = document.querySelector('#add');
const title = document.querySelector('#title');
const url = document.querySelector('#url');
const message = document.querySelector('#message');
const list = document.querySelector('#readings');

const app = await App.connect().catch((error) => {
  tell(error);
  throw error;
});

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    await app.backend.json('/readings', { body: { title: title.value, url: url.value } });
    form.reset();
    await show();
  } catch (error) {
    tell(error);
  }
});

// Only now can something be added: before, a press on the button would be lost.
form.querySelector('button').disabled = false;
show().catch(tell);
// Another app may have added something meanwhile.
document.addEventListener('visibilitychange', () => document.hidden || show().catch(tell));

async function show() {
  const { entries } = await app.backend.json('/readings');
  list.replaceChildren(...entries.map(item));
  message.textContent = entries.length === 0 ? 'Nothing to read yet.' : '';
}

function item(entry) {
  const element = document.createElement('li');
  element.append(nameOf(entry));
  const footer = document.createElement('footer');
  const remove = document.createElement('button');
  remove.textContent = 'Remove';
  remove.ariaLabel = `Remove ${entry.title.slice(0, 40)}`;
  remove.addEventListener('click', async () => {
    try {
      await app.backend.json(`/readings/${entry.id}`, { method: 'DELETE' });
      await show();
    } catch (error) {
      tell(error);
    }
  });
  const when = new Date(entry.addedAt).toLocaleString();
  footer.append(entry.addedBy === null ? when : `${when}, added by ${entry.addedBy}`, remove);
  element.append(footer);
  return element;
}

// What other apps added are their words: text, never markup. The platform asks before it opens an address.
function nameOf({ title: text, url: address }) {
  const element = document.createElement(address === null ? 'p' : 'a');
  element.textContent = text;
  if (address !== null) element.href = address;
  return element;
}

function tell(error) {
  message.textContent = error.message;
}
