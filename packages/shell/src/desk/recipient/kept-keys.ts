// The keys of recipients that this browser opened, by account: they stay at sign-out, and can be used but not read. Those that were
// replaced stay too, since nothing else opens what was sealed for them.

import type { RecipientKey } from './recipient-key.ts';
import { keyIdOf } from './sealed-text.ts';

const NAME = 'platform.recipient';
const STORE = 'keys';

interface KeptKey extends RecipientKey {
  readonly account: string;
  readonly keyId: string;
}

/** Where the browser keeps nothing, they last as long as the page. */
const inMemory = new Map<string, RecipientKey>();

export async function keepKey(account: string, key: RecipientKey): Promise<void> {
  const keyId = await keyIdOf(key.publicKey);
  inMemory.set(`${account} ${keyId}`, key);
  const kept: KeptKey = { account, keyId, ...key };
  await inStore('readwrite', (store) => store.put(kept)).catch((error: unknown) => {
    console.warn('What apps encrypt opens in this page only: the browser does not keep the key.', error);
  });
}

/** With the private key of the account that has this id; `null` where it was never opened here. */
export async function keptKey(account: string, keyId: string): Promise<RecipientKey | null> {
  const known = inMemory.get(`${account} ${keyId}`);
  if (known !== undefined) return known;
  const found: unknown = await inStore('readonly', (store) => store.get([account, keyId])).catch(() => undefined);
  return (found as KeptKey | undefined) ?? null;
}

async function inStore<Result>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> {
  const database = await open();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode, { durability: 'strict' });
      const request = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(STORE, { keyPath: ['account', 'keyId'] });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
