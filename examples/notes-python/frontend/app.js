// The page of Notes in Python. It talks to its own backend alone.
import { App } from './platform-sdk.js';

const text = document.querySelector('#text');
const message = document.querySelector('#message');
const list = document.querySelector('#notes');
const app = await App.connect();

async function show() {
  const { notes } = await app.backend.json('/notes');
  list.replaceChildren(...notes.map(({ text }) => Object.assign(document.createElement('li'), { textContent: text })));
}

document.querySelector('#add').addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    const { problems } = await app.backend.json('/notes', { body: { text: text.value } });
    text.value = '';
    message.textContent = ['Saved.', ...problems].join(' ');
    await show();
  } catch (error) {
    message.textContent = error.message;
  }
});

await show();
