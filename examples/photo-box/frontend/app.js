// The page of Photo Box. Everything it knows it asks of its own backend, workload/server.mjs.
import { App } from './platform-sdk.js';
import { thumbnailOf } from './thumbnail.js';
import { openViewer } from './viewer.js';

const one = (id) => document.querySelector(`#${id}`);
const list = one('photos');
const message = one('message');
const progress = one('progress');
const more = one('more');

const app = await App.connect().catch((error) => {
  message.textContent = error.message;
  throw error;
});

/** As the grid shows them, newest first. */
let photos = [];
let next = null;
/** Uploads one after the other: what is added meanwhile waits for its turn. */
let adding = Promise.resolve();
let waiting = 0;
let done = 0;
let failures = [];

const viewer = openViewer({
  read: (photo) => bytesOf(`/photos/${photo.id}?name=${encodeURIComponent(photo.name)}`),
  keep(bytes, name) {
    app.saveFile(bytes, name).catch((error) => {
      message.textContent = error.message;
    });
  },
  remove: (photo) => app.backend.json(`/photos/${photo.id}`, { method: 'DELETE' }),
  removed(photo) {
    photos = photos.filter(({ id }) => id !== photo.id);
    show();
  },
});

// Pictures are read as they come near: each is a request.
const nearing = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      nearing.unobserve(target);
      picture(`/thumbnails/${target.dataset.id}`).then(
        (url) => {
          target.src = url;
        },
        () => target.parentElement.classList.add('broken'),
      );
    }
  },
  { rootMargin: '400px' },
);

one('add').addEventListener('click', () => one('files').click());
one('camera').addEventListener('click', () => one('shot').click());
for (const input of [one('files'), one('shot')]) {
  input.addEventListener('change', () => {
    add([...input.files]);
    input.value = '';
  });
}
more.addEventListener('click', () => load(next).catch(tell));

addEventListener('dragover', (event) => {
  event.preventDefault();
  document.body.classList.add('dropping');
});
for (const end of ['dragleave', 'drop']) {
  addEventListener(end, (event) => {
    // From one element to the next it is still over the page.
    if (end === 'drop' || event.relatedTarget === null) document.body.classList.remove('dropping');
  });
}
addEventListener('drop', (event) => {
  event.preventDefault();
  add([...event.dataTransfer.files]);
});

await load(null).catch(tell);

async function load(after) {
  const query = after === null ? '' : `?after=${encodeURIComponent(after)}`;
  const page = await app.backend.json(`/photos${query}`);
  photos = after === null ? page.photos : [...photos, ...page.photos];
  next = page.next;
  message.textContent = '';
  one('add').hidden = false;
  one('camera').hidden = !matchMedia('(pointer: coarse)').matches;
  show();
}

/** Adds the items that are missing and removes those that are too many, so that pictures are read once. */
function show() {
  const known = new Map([...list.children].map((item) => [item.dataset.id, item]));
  list.replaceChildren(...photos.map((photo) => known.get(photo.id) ?? itemOf(photo)));
  one('empty').hidden = photos.length > 0;
  more.hidden = next === null;
}

function itemOf(photo) {
  const item = document.createElement('li');
  const button = document.createElement('button');
  const image = document.createElement('img');
  item.dataset.id = photo.id;
  image.dataset.id = photo.id;
  image.alt = photo.name;
  button.type = 'button';
  button.append(image);
  button.addEventListener('click', () => viewer.show(photo, photos));
  nearing.observe(image);
  item.append(button);
  return item;
}

function add(files) {
  if (files.length === 0) return;
  waiting += files.length;
  for (const file of files) {
    adding = adding
      .then(() => addOne(file))
      .catch((error) => failures.push(`${file.name} was not added. ${wordsOf(error)}`))
      .then(() => count(1));
  }
  count(0);
}

async function addOne(file) {
  const thumbnail = await thumbnailOf(file).catch(() => null);
  if (thumbnail === null) throw new Error('This browser can’t show it. Save it as JPEG or PNG, then add it again.');
  const id = newId();
  const name = (file.name || 'Photo').replace(/[\p{Cc}/]/gu, '_').slice(-100);
  await put(`/thumbnails/${id}`, thumbnail);
  await put(`/photos/${id}?name=${encodeURIComponent(name)}`, file);
  photos = [{ id, name, size: file.size, addedAt: new Date() }, ...photos];
  show();
}

/** A later one is less, and so comes first in a listing. */
function newId() {
  const [random] = crypto.randomUUID().split('-');
  return `${String(10 ** 13 - Date.now()).padStart(13, '0')}-${random}`;
}

async function put(path, body) {
  const answer = await app.backend.fetch(path, { method: 'PUT', body, headers: { 'content-type': body.type } });
  if (!answer.ok) throw await problemOf(answer);
}

/** An address at which the page can show what the backend sent. */
async function bytesOf(path) {
  const answer = await app.backend.fetch(path);
  if (!answer.ok) throw await problemOf(answer);
  return answer.blob();
}

/** An address of them that the page can show. */
async function picture(path) {
  return URL.createObjectURL(await bytesOf(path));
}

async function problemOf(answer) {
  const { code, detail } = await answer.json().catch(() => ({}));
  return Object.assign(new Error(detail ?? `The backend answered ${answer.status}.`), { code });
}

/** Says how far it is; at the end, what was not added. */
function count(finished) {
  done += finished;
  const isOver = done === waiting;
  progress.hidden = isOver;
  progress.max = waiting;
  progress.value = done;
  message.textContent = isOver ? failures.join(' ') : `Adding ${done + 1} of ${waiting}. Stay here until it’s done.`;
  if (isOver) [done, waiting, failures] = [0, 0, []];
}

function tell(error) {
  const isStorage = error.code === 'no_storage';
  one('nowhere').hidden = !isStorage;
  one('cure').textContent = isStorage ? wordsOf(error) : '';
  message.textContent = isStorage ? '' : error.message;
}

/** For a refusal of the platform, what the person can do about it. */
function wordsOf(error) {
  if (error.code !== 'no_storage') return error.message;
  return app.context.capabilities.some(({ id }) => id === 'object-storage.raw')
    ? 'Photo Box needs object storage, which comes with the paid plan. Ask the operator of this platform for it.'
    : 'Photo Box may not keep files in object storage. You can allow it in Settings → Apps → Photo Box.';
}
