// The page: whether the diary can be opened in this browser, a new entry, and the entries, the newest first.
import { App } from './platform-sdk.js';
import { sealedEntries, timeOf } from './sealed-entries.js';

const AT_ONCE = 20;
const TIMES = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'short' });

/** In which states the diary stays closed, and what opens it. */
const CLOSED = {
  locked: 'This browser can’t read it yet. Sign in again with your passkey, or unlock it in Settings → Passkeys.',
  none: 'To seal entries, the platform needs a key that only you have. Sign in again with your passkey, or turn it on in Settings → Passkeys.',
  unsupported:
    'The passkey that you signed in with can’t seal anything. Settings → Passkeys says which ones can, and lets you add one.',
  'migrates-at-sign-in': 'Sign out and in again, once. Then it opens as before.',
};

const one = (id) => document.querySelector(`#${id}`);
const text = one('text');
const message = one('message');

const app = await App.connect().catch(tell);
const entries = sealedEntries(app);
/** Of those that are not shown yet. */
let earlier = [];
let keeping = Promise.resolve();

one('again').addEventListener('click', async () => {
  await open();
  if (!one('closed').hidden) message.textContent = 'It’s still closed.';
});
one('earlier').addEventListener('click', showEarlier);
text.addEventListener('input', keepDraft);
one('write').addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = one('write').querySelector('button');
  button.disabled = true;
  try {
    const name = await entries.write(text.value);
    one('entries').prepend(await element(name));
    one('empty').hidden = true;
    text.value = '';
    keepDraft();
    message.textContent = 'Sealed.';
  } catch (error) {
    message.textContent = `Not saved. ${error.message}`;
  }
  button.disabled = false;
});
await open();

async function open() {
  try {
    const state = await app.recipient.status();
    const isReady = state === 'ready';
    one('closed').hidden = isReady;
    one('why').textContent = isReady ? '' : CLOSED[state];
    one('write').hidden = !isReady;
    message.textContent = '';
    if (!isReady) return;
    await restoreDraft();
    earlier = await entries.names();
    one('entries').replaceChildren();
    one('empty').hidden = earlier.length > 0;
    await showEarlier();
  } catch (error) {
    message.textContent = error.message;
  }
}

async function showEarlier() {
  const next = earlier.splice(0, AT_ONCE);
  one('earlier').hidden = earlier.length === 0;
  one('entries').append(...(await Promise.all(next.map(element))));
}

async function element(name) {
  const article = document.createElement('article');
  const heading = document.createElement('h2');
  heading.textContent = TIMES.format(timeOf(name));
  const words = document.createElement('p');
  words.textContent = await entries.read(name).catch((error) => {
    words.className = 'unreadable';
    return `This entry can’t be read. ${error.message}`;
  });
  article.append(heading, words, removeButton(name, article));
  return article;
}

/** Pressed twice, it deletes. */
function removeButton(name, article) {
  const button = document.createElement('button');
  const label = (doing) => {
    button.textContent = doing;
    button.ariaLabel = `${doing}: ${TIMES.format(timeOf(name))}`;
  };
  let isSure = false;
  label('Delete');
  button.type = 'button';
  button.addEventListener('blur', () => {
    isSure = false;
    label('Delete');
  });
  button.addEventListener('click', async () => {
    if (!isSure) {
      isSure = true;
      label('Delete for good');
      message.textContent = 'You can’t undo this. Press again to delete the entry.';
      return;
    }
    try {
      await entries.remove(name);
      article.remove();
      one('empty').hidden = one('entries').children.length > 0 || earlier.length > 0;
      message.textContent = 'Deleted.';
      text.focus();
    } catch (error) {
      message.textContent = error.message;
    }
  });
  return button;
}

/** The platform unloads an app when the person goes to another one. What they had begun is there when they return, sealed as well. */
function keepDraft() {
  keeping = keeping
    .then(async () => app.state.set(text.value === '' ? null : await app.recipient.seal(text.value)))
    .catch((error) => {
      message.textContent = `If you leave now, this draft is lost. ${error.message}`;
    });
}

async function restoreDraft() {
  const sealed = await app.state.get();
  if (sealed === null || text.value !== '') return;
  text.value = new TextDecoder().decode(await app.recipient.open(sealed));
}

function tell(error) {
  message.textContent = error.message;
  throw error;
}
