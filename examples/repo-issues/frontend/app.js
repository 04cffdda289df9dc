// The page of Repository Issues. Everything it knows it asks of its own backend, workload/server.mjs.
import { App } from './platform-sdk.js';

const show = document.querySelector('#show');
const file = document.querySelector('#file');
const repository = document.querySelector('#repository');
const title = document.querySelector('#title');
const message = document.querySelector('#message');
const list = document.querySelector('#issues');

const app = await App.connect().catch((error) => {
  tell(error);
  throw error;
});

show.addEventListener('submit', (event) => {
  event.preventDefault();
  read().catch(tell);
});
show.querySelector('button').disabled = false;

file.addEventListener('submit', (event) => {
  event.preventDefault();
  add().catch(tell);
});

function address() {
  return `/issues?repository=${encodeURIComponent(repository.value.trim())}`;
}

async function read() {
  message.textContent = 'Reading …';
  const { issues } = await app.backend.json(address());
  list.replaceChildren(...issues.map(item));
  file.hidden = false;
  message.textContent = issues.length === 0 ? 'No open issues.' : '';
}

async function add() {
  const { number } = await app.backend.json(address(), { body: { title: title.value } });
  file.reset();
  await read();
  message.textContent = `Filed as #${number}.`;
}

function item({ number, title: text }) {
  const element = document.createElement('li');
  element.textContent = `#${number} ${text}`;
  return element;
}

function tell(error) {
  message.textContent = error.message;
}
