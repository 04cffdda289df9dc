// What every test of object storage begins and ends with, and how it reads the answers of a Gateway.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach } from 'node:test';
import type { Answer } from './gateway-under-test.ts';
import { assertConfined, BUCKET, PREFIX, type StorageUnderTest, startStorageUnderTest } from './storage-under-test.ts';

export interface StorageScene {
  readonly storage: StorageUnderTest;
  /** The object that the app knows as `key`, in the store. */
  inStore(key: string): string | undefined;
}

/** Starts the Gateway and its store for the tests of a file; each test begins with an empty store. */
export function storageScene(): StorageScene {
  let storage: StorageUnderTest;
  before(async () => {
    storage = await startStorageUnderTest();
  });
  after(() => storage.close());
  beforeEach(() => {
    storage.store.seen.length = 0;
    storage.store.objects.clear();
    storage.store.next = null;
  });
  // Whatever a test did, nothing of it may have reached anything but the installation's own part.
  afterEach(() => assertConfined(storage.store.seen));
  return {
    get storage() {
      return storage;
    },
    inStore: (key) => storage.store.objects.get(`/${BUCKET}/${PREFIX}${key}`)?.toString(),
  };
}

export const codeOf = ({ body }: Answer) => /<Code>([^<]*)<\/Code>/.exec(body)?.[1];
export const keysIn = ({ body }: Answer) => [...body.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key);

/** A refusal of the Gateway. */
export function refused(answer: Answer, status: number, code: string): void {
  assert.equal(codeOf(answer), code, answer.body);
  assert.equal(answer.status, status);
  assert.match(answer.body, /<Message>[^<]{10,}<\/Message><RequestId>[0-9a-f-]{36}<\/RequestId>/);
  assert.equal(answer.headers['content-type'], 'application/xml');
}
