// The page of Chat Room for its owner. It asks its own backend, workload/server.mjs, over the way that strangers do not have.
import { App } from './platform-sdk.js';

const one = (id) => document.querySelector(`#${id}`);
const message = one('message');

const app = await App.connect().catch((error) => {
  message.textContent = error.message;
  throw error;
});

let next;
let isOpen = true;
/** What was drawn last: drawn anew only when something changed, so that the focus stays where it is. */
let drawn = '';

async function show(change) {
  clearTimeout(next);
  try {
    const room = await app.backend.json('/moderate', change === undefined ? {} : { body: change });
    isOpen = room.isOpen;
    one('toggle').disabled = false;
    one('toggle').textContent = isOpen ? 'Close the room' : 'Open the room';
    message.textContent = isOpen ? '' : 'The room is closed. Nobody can join.';
    if (JSON.stringify(room) !== drawn) draw(room);
    drawn = JSON.stringify(room);
  } catch (error) {
    message.textContent = error.message;
  }
  clearTimeout(next);
  next = setTimeout(show, 2_000);
}

function draw({ people, messages }) {
  one('nobody').hidden = people.length > 0;
  one('silence').hidden = messages.length > 0;
  one('people').replaceChildren(
    ...people.map(({ id, name }) => item(name, '', 'Remove', `Remove ${name}`, { removePerson: id })),
  );
  const newest = messages.toReversed();
  one('messages').replaceChildren(
    ...newest.map(({ id, name, text }) =>
      item(name, text, 'Delete', `Delete the message of ${name}: ${text.slice(0, 40)}`, { deleteMessage: id }),
    ),
  );
}

function item(name, text, label, description, change) {
  const element = document.createElement('li');
  const words = document.createElement('p');
  const who = document.createElement('strong');
  const button = document.createElement('button');
  who.textContent = name;
  words.append(who, text === '' ? '' : ` ${text}`);
  button.type = 'button';
  button.textContent = label;
  button.ariaLabel = description;
  button.addEventListener('click', () => show(change));
  element.append(words, button);
  return element;
}

one('toggle').addEventListener('click', () => show({ isOpen: !isOpen }));
await show();
