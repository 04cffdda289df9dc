// The page of Webhook Inbox. Everything it knows it asks of its own backend, workload/server.mjs.
import { App } from './platform-sdk.js';

const one = (id) => document.querySelector(`#${id}`);
const message = one('message');
const TIMES = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

const app = await App.connect().catch((error) => {
  message.textContent = error.message;
  throw error;
});

let inbox;
let next;

async function show() {
  clearTimeout(next);
  try {
    const isFirst = inbox === undefined;
    inbox = await app.backend.json('/inbox');
    const { address, deliveries, refused } = inbox;
    if (isFirst) {
      one('address').value = address;
      one('setup').open = deliveries.length === 0;
    }
    one('ready').hidden = address === '';
    showUrl();
    one('refused').textContent =
      refused.last === null
        ? ''
        : `Refused since the start: ${refused.count}. Last, ${TIMES.format(new Date(refused.last.at))}: ${refused.last.detail}`;
    one('none').hidden = deliveries.length > 0;
    // What is there already stays as it is: unfolded, and in focus.
    const list = one('deliveries');
    const known = new Set([...list.children].map((element) => element.dataset.id));
    list.prepend(...deliveries.filter(({ id }) => !known.has(id)).map(item));
    while (list.children.length > deliveries.length) list.lastElementChild.remove();
    if (message.dataset.lost) message.textContent = '';
    delete message.dataset.lost;
  } catch (error) {
    message.textContent = error.message;
    message.dataset.lost = 'true';
  }
  clearTimeout(next);
  next = setTimeout(show, 3_000);
}

function showUrl() {
  const sender = one('sender');
  one('url').textContent = sender.validity.valid ? `${inbox.address}/hooks/${sender.value}` : 'Use a-z, 0-9 and -.';
  one('copy-url').disabled = !sender.validity.valid;
}

function item({ id, sender, at, type, body }) {
  const element = document.createElement('li');
  const details = document.createElement('details');
  const summary = document.createElement('summary');
  const name = document.createElement('strong');
  const time = document.createElement('time');
  const about = document.createElement('p');
  const content = document.createElement('pre');
  element.dataset.id = id;
  name.textContent = sender;
  time.dateTime = at;
  time.textContent = TIMES.format(new Date(at));
  about.textContent = `${id}${type === '' ? '' : `, ${type}`}`;
  about.className = 'hint';
  content.textContent = indented(body);
  content.tabIndex = 0;
  summary.append(name, ' ', time);
  details.append(summary, about, content);
  element.append(details);
  return element;
}

function indented(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

one('sender').addEventListener('input', showUrl);

one('locate').addEventListener('submit', async (event) => {
  event.preventDefault();
  await change('/address', one('address').value, 'Saved.');
  one('address').value = inbox.address;
});

one('show-secret').addEventListener('click', ({ target }) => {
  const isShown = target.textContent === 'Hide';
  one('secret').textContent = isShown ? '••••••••' : inbox.secret;
  target.textContent = isShown ? 'Show' : 'Hide';
});

for (const [id, text] of [
  ['copy-url', () => one('url').textContent],
  ['copy-secret', () => inbox.secret],
]) {
  one(id).addEventListener('click', async () => {
    message.textContent = await navigator.clipboard.writeText(text()).then(
      () => 'Copied.',
      () => 'This browser does not let the app copy. Select the text and copy it.',
    );
  });
}

const renew = one('new-secret');
renew.addEventListener('click', async () => {
  if (!renew.dataset.sure) {
    renew.dataset.sure = 'yes';
    renew.textContent = 'Senders with the old secret are refused at once. Press again to replace it';
    return;
  }
  calm();
  await change('/secret', '', 'There is a new secret. Give it to your senders.');
  if (one('show-secret').textContent === 'Hide') one('secret').textContent = inbox.secret;
});
renew.addEventListener('blur', calm);

function calm() {
  delete renew.dataset.sure;
  renew.textContent = 'Make a new secret';
}

async function change(path, body, done) {
  try {
    const answer = await app.backend.fetch(path, { method: 'POST', body });
    message.textContent = answer.ok ? done : (await answer.json()).detail;
  } catch (error) {
    message.textContent = error.message;
  }
  await show();
}

await show();
