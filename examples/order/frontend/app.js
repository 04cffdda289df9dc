// The page of Order. Everything it knows it asks of its own backend, workload/server.mjs, again and again while orders run.
import { App } from './platform-sdk.js';

const form = document.querySelector('#place');
const item = document.querySelector('#item');
const email = document.querySelector('#email');
const message = document.querySelector('#message');
const none = document.querySelector('#none');
const list = document.querySelector('#orders');

const app = await App.connect().catch((error) => {
  message.textContent = error.message;
  throw error;
});

/** The order that is being placed. When its answer is lost, the next press sends the same again, with the same id. */
let placing = null;

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (placing?.item !== item.value || placing?.email !== email.value)
    placing = { id: crypto.randomUUID(), item: item.value, email: email.value };
  form.querySelector('button').disabled = true;
  message.textContent = 'Placing your order …';
  try {
    await app.backend.json('/orders', { body: placing });
    placing = null;
    message.textContent = 'Your order is placed. It goes on whatever happens.';
  } catch (error) {
    message.textContent = `${error.message} Press again: it stays one order.`;
  }
  form.querySelector('button').disabled = false;
  await show();
});

async function decide(id, decision) {
  await app.backend.json(`/orders/${id}/${decision}`, { method: 'POST' }).catch((error) => {
    message.textContent = error.message;
  });
  await show();
}

let next;
/** What was drawn last: drawn anew only when something changed, so that the focus stays where it is. */
let drawn = '';

async function show() {
  clearTimeout(next);
  let wait = 1_000;
  try {
    const { orders } = await app.backend.json('/orders');
    none.hidden = orders.length > 0;
    if (JSON.stringify(orders) !== drawn) list.replaceChildren(...orders.map(card));
    drawn = JSON.stringify(orders);
    if (orders.every(({ run }) => run !== 'running')) wait = 5_000;
    if (message.dataset.lost) message.textContent = '';
    delete message.dataset.lost;
  } catch {
    message.textContent = 'The backend does not answer. Trying again …';
    message.dataset.lost = 'true';
  }
  clearTimeout(next);
  next = setTimeout(show, wait);
}

function card(order) {
  const { id, item, cents, reserved, paid, decided, refunded, mailed } = order;
  const element = document.createElement('li');
  const title = document.createElement('h3');
  title.textContent = `${item[0].toUpperCase()}${item.slice(1)}, ${euros(cents)}`;
  const steps = document.createElement('ol');
  steps.append(
    ...[
      reserved && ['Reserved', reserved],
      paid && [
        paid.paid ? `Paid${paid.reference ? ' through Stripe' : ' (pretended)'}` : `Declined: ${paid.why}`,
        paid,
      ],
      decided && [decided.approved ? 'Approved' : 'Refused', decided],
      refunded && [`Refunded ${euros(refunded.cents)}`, refunded],
      mailed && [`Mailed to ${mailed.to}: “${mailed.text}”`, mailed],
    ]
      .filter(Boolean)
      .map(step),
  );
  const state = document.createElement('p');
  state.className = 'state';
  state.textContent = stateOf(order);
  element.append(title, steps, state);
  if (order.run === 'running' && paid?.paid && !decided)
    element.append(button('Approve', id, 'approve'), button('Refuse', id, 'refuse'));
  return element;
}

function step([text, { at }]) {
  const element = document.createElement('li');
  const time = document.createElement('time');
  time.dateTime = at;
  time.textContent = new Date(at).toLocaleTimeString('en', { hour12: false });
  element.append(time, ` ${text}`);
  return element;
}

function stateOf({ run, paid, decided, refunded, mailed }) {
  if (run === 'completed') return 'Finished';
  if (run !== 'running')
    return `The order ${run === 'failed' ? 'failed' : `was ${run}`}. See its timeline in Settings.`;
  if (mailed) return 'Closing …';
  if (refunded || decided?.approved || paid?.paid === false) return 'Sending a mail …';
  if (decided) return 'Refunding …';
  return paid ? 'Waiting for your approval' : 'Paying …';
}

function button(text, id, decision) {
  const element = document.createElement('button');
  element.type = 'button';
  element.textContent = text;
  element.className = decision;
  element.addEventListener('click', () => decide(id, decision));
  return element;
}

function euros(cents) {
  return `€${(cents / 100).toFixed(2)}`;
}

form.querySelector('button').disabled = false;
await show();
