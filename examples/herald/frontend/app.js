// The page of Herald. Its backend is the agent of the platform, whose routes begin with /v1/agent.
import { App } from './platform-sdk.js';

const list = document.querySelector('#messages');
const notice = document.querySelector('#notice');
const form = document.querySelector('#say');
const text = document.querySelector('#text');
const send = form.querySelector('button');

/** Of this conversation; `null` before its first message. */
let session = null;
/** The message that is being written, by its id. */
const items = new Map();
let isAtWork = false;

const app = await App.connect().catch((error) => {
  notice.textContent = error.message;
  throw error;
});

form.addEventListener('submit', (event) => {
  event.preventDefault();
  (isAtWork ? cancel() : say(text.value)).catch(tell);
});

const { agent } = await app.backend.json('/v1/agent').catch((error) => {
  tell(error);
  throw error;
});
if (agent.problem !== null) notice.textContent = agent.problem.message;
send.disabled = false;

async function say(words) {
  session ??= (await app.backend.json('/v1/agent/sessions', { body: {} })).session.id;
  // Opened first, so that nothing is missed; it is read until the turn is over.
  const stream = await app.backend.fetch(`/v1/agent/sessions/${session}/events`);
  await app.backend.json(`/v1/agent/sessions/${session}/messages`, { body: { text: words } });
  text.value = '';
  notice.textContent = '';
  setAtWork(true);
  try {
    for await (const { event, data } of eventsOf(stream)) {
      show(event, data);
      if (event === 'idle') return;
    }
  } finally {
    setAtWork(false);
  }
}

function cancel() {
  return app.backend.json(`/v1/agent/sessions/${session}/cancel`, { method: 'POST' });
}

function setAtWork(atWork) {
  isAtWork = atWork;
  send.textContent = atWork ? 'Stop' : 'Send';
  text.required = !atWork;
  list.ariaBusy = String(atWork);
}

function show(event, data) {
  if (event === 'message.delta') {
    const item = itemOf(data.message, 'assistant');
    item.textContent = item.textContent.slice(0, data.offset) + data.text;
  }
  if (event === 'message' && data.text !== '') itemOf(data.message, data.role).textContent = data.text;
  if (event === 'tool.result')
    itemOf(data.call, 'tool').textContent = `${data.tool}: ${data.isError ? 'failed' : 'done'}`;
  if (event === 'failed') notice.textContent = data.error.message;
  if (event === 'idle' && data.reason === 'cancelled') notice.textContent = 'Stopped.';
  if (event === 'idle' && data.asks !== undefined) notice.textContent = data.asks;
}

function itemOf(id, role) {
  const item = items.get(id) ?? document.createElement('li');
  if (!items.has(id)) {
    item.className = role;
    items.set(id, item);
    list.append(item);
  }
  return item;
}

/** Server-sent events: lines of a name and of data, and an empty one behind them. */
async function* eventsOf(response) {
  if (!response.ok) throw new Error((await response.json()).detail);
  let rest = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const [, event] = /^event: (.+)$/m.exec(block) ?? [];
      const [, data] = /^data: (.+)$/m.exec(block) ?? [];
      if (event !== undefined) yield { event, data: JSON.parse(data) };
    }
  }
}

function tell(error) {
  notice.textContent = error.message;
}
