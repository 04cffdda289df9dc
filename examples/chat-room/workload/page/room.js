// The page of the room, as strangers see it. What others wrote is put into it as text, never as HTML.
const one = (id) => document.querySelector(`#${id}`);
const list = one('messages');
const MOST_SHOWN = 100;
const CLOSED = {
  4000: 'You gave no name in time. Join when you like.',
  4001: 'The room is closed.',
  4003: 'The owner of the room removed you.',
};

// It scrolls, also for those who use the keyboard.
list.tabIndex = 0;

let socket;
let name;
let wait = 1_000;

one('join').addEventListener('submit', (event) => {
  event.preventDefault();
  name = one('name').value;
  connect();
});

one('write').addEventListener('submit', (event) => {
  event.preventDefault();
  const { value } = one('text');
  if (socket.readyState !== WebSocket.OPEN) return;
  socket.send(JSON.stringify({ text: value }));
  one('text').value = '';
});

function connect() {
  socket?.close();
  const here = new WebSocket(new URL('/room', location.href).href.replace(/^http/, 'ws'));
  socket = here;
  let hasJoined = false;
  here.addEventListener('open', () => here.send(JSON.stringify({ name })));
  here.addEventListener('message', ({ data }) => {
    const { joined, messages, message, deleted, people, refused } = JSON.parse(data);
    if (joined !== undefined) {
      hasJoined = true;
      wait = 1_000;
      list.replaceChildren(...messages.map(item));
      show(true);
      tell(`You are in the room as ${joined}.`);
      one('text').focus();
    }
    if (message !== undefined) list.append(item(message));
    if (message !== undefined || joined !== undefined) list.scrollTop = list.scrollHeight;
    while (list.children.length > MOST_SHOWN) list.firstElementChild.remove();
    if (deleted !== undefined) list.querySelector(`[data-id="${CSS.escape(deleted)}"]`)?.remove();
    if (people !== undefined) one('people').textContent = `Here: ${people.join(', ')}`;
    if (refused !== undefined) {
      tell(refused);
      if (!hasJoined) here.close();
    }
  });
  here.addEventListener('close', ({ code }) => {
    if (socket !== here) return;
    one('people').textContent = '';
    // A handshake that is refused has no reason that a page may see.
    if (!hasJoined || CLOSED[code] !== undefined) {
      show(false);
      if (one('state').textContent === '' || hasJoined || code === 1006)
        tell(
          CLOSED[code] ?? 'The room does not let you in now: it is closed, full, or you were removed. Try again later.',
        );
      return;
    }
    tell('The connection was lost. Connecting again …');
    setTimeout(() => socket === here && connect(), wait);
    wait = Math.min(wait * 2, 30_000);
  });
}

function show(isIn) {
  one('join').hidden = isIn;
  one('write').hidden = !isIn;
}

function tell(text) {
  one('state').textContent = text;
}

function item({ id, name: author, text, at }) {
  const element = document.createElement('li');
  const who = document.createElement('strong');
  const when = document.createElement('time');
  const what = document.createElement('p');
  element.dataset.id = id;
  who.textContent = author;
  when.dateTime = at;
  when.textContent = new Date(at).toLocaleTimeString(undefined, { timeStyle: 'short' });
  what.textContent = text;
  element.append(who, ' ', when, what);
  return element;
}
