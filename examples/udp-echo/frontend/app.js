// The page of UDP Echo: where its port is, the key, and what arrived. It asks its own backend, workload/server.mjs.
import { App } from './platform-sdk.js';

const one = (id) => document.querySelector(`#${id}`);
const HIDDEN = '••••••••';

const app = await App.connect().catch((error) => {
  one('message').textContent = error.message;
  throw error;
});

let key = '';
let isShown = false;
let next;

async function show() {
  clearTimeout(next);
  try {
    const { port, key: found, ...counts } = await app.backend.json('/');
    key = found;
    one('message').textContent = '';
    one('none').hidden = port !== null;
    one('ready').hidden = port === null;
    if (port !== null) one('address').textContent = `${port.host}:${port.hostPort}`;
    for (const [name, count] of Object.entries(counts)) one(name).textContent = count.toLocaleString();
    showKey();
  } catch (error) {
    one('message').textContent = error.message;
  }
  clearTimeout(next);
  next = setTimeout(show, 2_000);
}

function showKey() {
  one('key').textContent = isShown ? key : HIDDEN;
  one('show').textContent = isShown ? 'Hide' : 'Show';
  one('command').textContent = `node client.mjs ${one('address').textContent} ${isShown ? key : '<key>'} hello`;
}

one('show').addEventListener('click', () => {
  isShown = !isShown;
  showKey();
});

await show();
