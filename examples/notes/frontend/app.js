// The page of Notes. Everything it knows it asks of its own backend, workload/server.mjs.
import { App } from './platform-sdk.js';

const form = document.querySelector('#add');
const text = document.querySelector('#text');
const message = document.querySelector('#message');
const list = document.querySelector('#notes');

const app = await App.connect().catch((error) => {
  tell(error);
  throw error;
});

// The platform unloads an app when the person goes to another one. What they had not saved yet is there when they return.
const draft = await app.state.get().catch(() => null);
if (text.value === '') text.value = draft ?? '';
text.addEventListener('input', () => app.state.set(text.value).catch(tell));

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    const { problems } = await app.backend.json('/notes', { body: { text: text.value } });
    form.reset();
    await app.state.set(null);
    await show();
    message.textContent = ['Saved.', ...problems].join(' ');
  } catch (error) {
    tell(error);
  }
});

// Only now can a note be saved: before, a press on the button would be lost.
form.querySelector('button').disabled = false;

// A search result or the button of a notification opens the app with a target such as `?note=<id>`.
app.on('target', ({ target }) => show(target).catch(tell));
show(app.context.target).catch(tell);

async function show(target = '') {
  const wanted = new URLSearchParams(target).get('note');
  const { notes } = await app.backend.json('/notes');
  list.replaceChildren(...notes.map((note) => item(note, note.id === wanted)));
  list.querySelector('.wanted')?.scrollIntoView({ block: 'center' });
}

function item(note, isWanted) {
  const element = document.createElement('li');
  element.classList.toggle('wanted', isWanted);
  const body = document.createElement('p');
  body.textContent = note.text;
  const footer = document.createElement('footer');
  const remove = document.createElement('button');
  remove.textContent = 'Delete';
  remove.ariaLabel = `Delete the note: ${note.text.slice(0, 40)}`;
  remove.addEventListener('click', async () => {
    try {
      await app.backend.json(`/notes/${note.id}`, { method: 'DELETE' });
      await show();
    } catch (error) {
      tell(error);
    }
  });
  footer.append(new Date(note.createdAt).toLocaleString(), remove);
  element.append(body, footer);
  return element;
}

function tell(error) {
  message.textContent = error.message;
}
