// One list on two sides: what the platform has, and what this device changed since. Every change is shown at once, kept, and sent when
// the platform can be reached; where somebody else was faster, the person chooses. An item is `{ text, isDone }`.

/** Between two attempts to reach the platform, unless the browser says earlier that it is online. */
const PAUSE_SECONDS = 5;
const READS_AT_ONCE = 8;

/**
 * @param content of the SDK
 * @param id of the collection
 * @param edits what is kept of it: by key `{ version, base, value, theirs?, problem? }`, where `base` is the version that the person
 *   saw, `null` for none, and `value` is `null` for an item that they removed
 * @param onChange called when there is something else to show
 */
export function followList({ content, id, edits, onChange }) {
  /** What the platform has, by key: `{ etag, value }`. */
  const items = new Map();
  /** Which version a change of this device made of another one: what the person builds on may be older than their last change. */
  const followers = new Map();
  const over = new AbortController();
  let isOnline = true;
  let isLoaded = false;
  let isSending = false;
  let lost = null;
  let wake = () => {};
  let call;

  addEventListener('online', () => wake(), { signal: over.signal });
  addEventListener('offline', () => call?.abort(), { signal: over.signal });
  // Another tab changed what is kept.
  addEventListener('storage', onChange, { signal: over.signal });
  follow();

  return {
    get isOnline() {
      return isOnline;
    },
    get isLoaded() {
      return isLoaded;
    },
    /** Why the list cannot be read any more. */
    get lost() {
      return lost;
    },
    get waiting() {
      return edits.all().size;
    },
    /** What to show, oldest first. */
    entries() {
      const kept = edits.all();
      const keys = [...new Set([...items.keys(), ...kept.keys()])].sort();
      return keys
        .map((key) => {
          const edit = kept.get(key) ?? null;
          const there = items.get(key) ?? null;
          return { key, edit, base: there?.etag ?? null, value: edit ? edit.value : there.value };
        })
        .filter(({ value, edit }) => value !== null || isHeld(edit));
    },
    /** @param base the version that the person saw when they decided on this value */
    change(key, value, base) {
      const former = edits.get(key);
      if (same((former ?? items.get(key))?.value ?? null, value)) return;
      keep(key, { base: former ? former.base : newest(base ?? items.get(key)?.etag ?? null), value });
      send();
    },
    /** After a conflict it builds on what they wrote; after a refusal it is sent as it was. */
    keepMine(key) {
      const { base, value, theirs } = edits.get(key);
      keep(key, { base: theirs === undefined ? base : (theirs?.etag ?? null), value });
      send();
    },
    keepTheirs(key) {
      const { theirs } = edits.get(key);
      if (theirs !== undefined) put(key, theirs);
      edits.drop(key);
      onChange();
    },
    close: () => over.abort(),
  };

  /** Asks what changed, for as long as the list is shown. The platform answers when there is something, or after 25 seconds. */
  async function follow() {
    let cursor;
    while (!over.signal.aborted) {
      try {
        call = new AbortController();
        const signal = AbortSignal.any([over.signal, call.signal]);
        // An answer at once, where that of the changes takes its time.
        if (!isOnline) await content.read(id, { signal });
        isOnline = true;
        onChange();
        send();
        const changes = await content.changes(id, { limit: 200, signal, ...(cursor !== undefined && { cursor }) });
        await take(changes.items);
        cursor = changes.nextCursor;
        isLoaded = true;
      } catch (error) {
        if (over.signal.aborted) return;
        if (error.code === 'invalid_cursor') {
          // So much was deleted meanwhile that the platform does not know all of it.
          cursor = undefined;
          items.clear();
        } else if (mayPass(error)) await pause(error);
        else {
          lost = error.message;
          onChange();
          return;
        }
      }
    }
  }

  async function pause({ retryAfter = PAUSE_SECONDS }) {
    isOnline = false;
    onChange();
    await new Promise((resolve) => {
      wake = resolve;
      setTimeout(resolve, retryAfter * 1_000);
      over.signal.addEventListener('abort', resolve, { once: true });
    });
  }

  async function take(changes) {
    const news = changes.filter(({ key, etag }) => (items.get(key)?.etag ?? null) !== etag);
    for (let at = 0; at < news.length; at += READS_AT_ONCE)
      await Promise.all(
        news.slice(at, at + READS_AT_ONCE).map(async ({ key, etag }) => {
          const now = etag === null ? null : await read(key);
          put(key, now);
          const edit = edits.get(key);
          // What the person is choosing between is the newest of both.
          if (edit?.theirs !== undefined) compare(key, now);
        }),
      );
  }

  /** One change after the other, so that each builds on the answer to the one before. */
  async function send() {
    if (isSending || !isOnline) return;
    isSending = true;
    try {
      for (;;) {
        const [next] = [...edits.all()].filter(([, edit]) => !isHeld(edit));
        if (next === undefined) break;
        await sendOne(...next);
        onChange();
      }
    } catch (error) {
      // Its answer may be lost on the way: whether the change arrived shows when it is sent again.
      console.warn('A change waits:', error);
      isOnline = false;
      call.abort();
    } finally {
      isSending = false;
    }
  }

  async function sendOne(key, { version, base, value }) {
    try {
      let now = null;
      if (value !== null) {
        const condition = base === null ? { ifNoneMatch: '*' } : { ifMatch: base };
        const { etag } = await content.put(id, key, JSON.stringify(value), { type: 'application/json', ...condition });
        now = { etag, value };
      } else if (base !== null) await content.remove(id, key, { ifMatch: base });
      else return compare(key, await read(key));
      if (base !== null && now !== null) followers.set(base, now.etag);
      settle(key, version, now);
    } catch (error) {
      if (error.code === 'precondition_failed') compare(key, await read(key));
      else if (mayPass(error)) throw error;
      else hold(key, { problem: error.message });
    }
  }

  /** The edit arrived. The person may have changed the item once more since. */
  function settle(key, version, now) {
    put(key, now);
    const edit = edits.get(key);
    if (edit?.version === version) edits.drop(key);
    else if (edit) keep(key, { base: now?.etag ?? null, value: edit.value });
  }

  /** Somebody else was faster. If they did the same, that is no conflict. */
  function compare(key, theirs) {
    put(key, theirs);
    const edit = edits.get(key);
    if (edit === null) return;
    if (same(edit.value, theirs?.value ?? null)) edits.drop(key);
    else hold(key, { theirs });
  }

  function hold(key, why) {
    const { base, value } = edits.get(key) ?? {};
    if (value !== undefined) keep(key, { base, value, ...why });
  }

  function keep(key, edit) {
    edits.set(key, { version: crypto.randomUUID(), ...edit });
    onChange();
  }

  function put(key, now) {
    if (now === null) items.delete(key);
    else items.set(key, now);
  }

  async function read(key) {
    try {
      const { bytes, etag } = await content.get(id, key);
      return { etag, value: itemIn(bytes) };
    } catch (error) {
      if (error.code === 'not_found') return null;
      throw error;
    }
  }

  function newest(etag) {
    let last = etag;
    while (followers.has(last)) last = followers.get(last);
    return last;
  }
}

/** It waits for the person, not for the platform. */
function isHeld(edit) {
  return edit !== null && (edit.theirs !== undefined || edit.problem !== undefined);
}

/** Whoever may write to the list can write anything there. */
function itemIn(bytes) {
  try {
    const { text, isDone } = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof text === 'string') return { text, isDone: isDone === true };
  } catch {
    // As below.
  }
  return { text: '(cannot be read)', isDone: false };
}

function same(one, other) {
  return one?.text === other?.text && one?.isDone === other?.isDone;
}

/** Nobody there, or not now; not what was decided. */
function mayPass({ name, code, status }) {
  return (
    name === 'AbortError' ||
    ['network_failed', 'timed_out'].includes(code) ||
    status === 401 ||
    status === 429 ||
    status >= 500
  );
}
