// The page. The platform adds platform-sdk.js to the package.
import { App } from './platform-sdk.js';

const button = document.querySelector('#count');
const message = document.querySelector('#message');

try {
  const app = await App.connect();
  // The platform unloads the page when the person goes to another app. What app.state keeps is there when they return.
  let count = (await app.state.get()) ?? 0;
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

function show(count) {
  message.textContent = `Counted to ${count}.`;
}

function complain(error) {
  message.textContent = error.message;
}
