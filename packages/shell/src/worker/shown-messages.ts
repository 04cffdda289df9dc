// Which messages this browser has shown, in IndexedDB: it outlives the worker, which browsers end at any moment, and
// the notification itself, whose tag is forgotten once the person has dismissed it.
import { pushLifeSeconds } from '@platform/contract';

const NAME = 'platform-push';
const STORE = 'shown';
/** A message is repeated within its life; as long again for clocks that differ. */
const REMEMBERED_MS = 2 * pushLifeSeconds * 1_000;

/**
 * Whether to show a message: not if one with its id was shown, or was about to be when the worker ended. Of concurrent
 * calls one returns true. Where the browser denies storage all do, and the notification's tag prevents duplicates.
 *
 * @param now milliseconds since 1970
 */
export async function isFirstTime(id: string, now: number): Promise<boolean> {
  try {
    const database = await open();
    try {
      return await remember(database, id, now);
    } finally {
      database.close();
    }
  } catch (error) {
    console.warn('The shown notifications could not be saved.', error);
    return true;
  }
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(STORE, { keyPath: 'id' }).createIndex('shownAt', 'shownAt');
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function remember(database: IDBDatabase, id: string, now: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, 'readwrite', { durability: 'strict' });
    const store = transaction.objectStore(STORE);
    let isFirst = true;
    const adding = store.add({ id, shownAt: now });
    adding.onerror = (event) => {
      if (adding.error?.name !== 'ConstraintError') return;
      // It is there already, which ends neither the transaction nor anything else.
      event.preventDefault();
      isFirst = false;
    };
    const forgetting = store.index('shownAt').openKeyCursor(IDBKeyRange.upperBound(now - REMEMBERED_MS));
    forgetting.onsuccess = () => {
      const cursor = forgetting.result;
      if (cursor === null) return;
      store.delete(cursor.primaryKey);
      cursor.continue();
    };
    transaction.oncomplete = () => resolve(isFirst);
    transaction.onabort = () => reject(transaction.error);
  });
}
