// The page. The platform adds platform-sdk.js to the package; through it the page reaches workload/server.mjs.
import { App } from './platform-sdk.js';

const button = document.querySelector('#count');
const message = document.querySelector('#message');

try {
  const app = await App.connect();
  show(await app.backend.json('/count'));
  button.addEventListener('click', async () => {
    try {
      show(await app.backend.json('/count', { method: 'POST' }));
    } catch (error) {
      complain(error);
    }
  });
  button.disabled = false;
} catch (error) {
  complain(error);
}

function show({ count }) {
  message.textContent = `Counted to ${count}.`;
}

function complain(error) {
  message.textContent = error.message;
}
