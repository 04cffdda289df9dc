// What lies below one prefix of the store, and cannot name anything else there. Whatever the store
// answers, a name outside the prefix ends the work before a request with it is sent.
import {
  childText,
  contentMd5,
  decodeListed,
  encodeKey,
  encodeStrictly,
  hasDotSegment,
  readXml,
  type StorePlace,
  sendToStore,
  storeBytes,
  storeText,
  UnconfinedError,
  writeXml,
  type XmlElement,
} from '@platform/http/s3';
import type { Dispatcher } from 'undici';

/** To the head of an answer, and between two pieces of it. */
const STORE_MILLISECONDS = 20_000;
/** A page of 1,000 keys of 900 bytes, percent-encoded. */
const ANSWER_LIMITS = { characters: 8 * 1024 * 1024, elements: 32_000 };
/** What S3 accepts in one deletion, and lists on one page. */
const MOST_AT_ONCE = 1_000;
/** Words alone: a store may quote what it was sent. */
const PREDEFINED_CODE = /^[A-Z][a-z]+(?:[A-Z][A-Za-z]*)?$/;

/** The store answered that it does not do it. */
export class StoreRefusal extends Error {
  override readonly name = 'StoreRefusal';
  /** Of HTTP; `null` where the answer was one of S3 but made no sense. */
  readonly status: number | null;

  constructor(message: string, status: number | null = null) {
    super(message);
    this.status = status;
  }
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Whether there are more behind the last one. */
  readonly truncated: boolean;
}

export interface Upload {
  readonly key: string;
  readonly id: string;
}

type Query = Readonly<Record<string, string>>;

export class ObjectsOfPrefix {
  readonly #store: StorePlace;
  readonly #prefix: string;
  readonly #signal: AbortSignal;
  readonly #bucketPath: string;

  constructor(store: StorePlace, prefix: string, signal: AbortSignal) {
    this.#store = store;
    this.#prefix = prefix;
    this.#signal = signal;
    this.#bucketPath = `/${encodeStrictly(store.bucket)}`;
  }

  async put(key: string, body: Buffer): Promise<void> {
    const headers = { 'content-type': 'application/octet-stream' };
    const answer = await this.#send('PUT', this.#pathOf(key), { headers, body });
    await answer.body.dump();
  }

  /** @throws StoreRefusal with 404 when there is none; AnswerTooLargeError beyond `most` bytes */
  async get(key: string, most: number): Promise<Buffer> {
    return storeBytes(await this.#send('GET', this.#pathOf(key), {}), most);
  }

  /** Keys in the order of the store, behind `after`; the first ones behind an empty one. */
  async keys(after: string): Promise<Page<string>> {
    const { items, truncated } = await this.sizes(after);
    return { items: items.map(({ key }) => key), truncated };
  }

  /** The same with the size of each. */
  async sizes(after: string): Promise<Page<{ readonly key: string; readonly bytes: number }>> {
    const start = after === '' ? {} : { 'start-after': after };
    const document = await this.#list({ 'list-type': '2', 'max-keys': String(MOST_AT_ONCE), ...start });
    return pageOf(document, 'Contents', (element) => {
      const size = childText(element, 'Size') ?? '';
      return { key: this.#confined(document, element), bytes: /^\d{1,15}$/.test(size) ? Number(size) : 0 };
    });
  }

  /** Uploads in parts that nobody completed. */
  async uploads(after: Upload | undefined): Promise<Page<Upload>> {
    const start = after === undefined ? {} : { 'key-marker': after.key, 'upload-id-marker': after.id };
    const document = await this.#list({ uploads: '', 'max-uploads': String(MOST_AT_ONCE), ...start });
    return pageOf(document, 'Upload', (element) => {
      const id = childText(element, 'UploadId') ?? '';
      if (id === '') throw new StoreRefusal('the store listed an upload without an id');
      return { key: this.#confined(document, element), id };
    });
  }

  /** All of a page at once. Those that the store does not delete are found by listing again. */
  async deleteAll(keys: readonly string[]): Promise<void> {
    const children = keys.map((key) => ({ name: 'Object', children: [{ name: 'Key', text: this.#own(key) }] }));
    const document = writeXml({ name: 'Delete', children: [{ name: 'Quiet', text: 'true' }, ...children] });
    const body = Buffer.from(document);
    const headers = { 'content-md5': contentMd5(body), 'content-type': 'application/xml' };
    const answer = await this.#send('POST', this.#bucketPath, { query: { delete: '' }, headers, body });
    await answer.body.dump();
  }

  /** Also what is gone already. */
  async deleteOne(key: string): Promise<void> {
    const answer = await this.#send('DELETE', this.#pathOf(key), {});
    await answer.body.dump();
  }

  async abort({ key, id }: Upload): Promise<void> {
    const answer = await this.#send('DELETE', this.#pathOf(key), { query: { uploadId: id } });
    await answer.body.dump();
  }

  async #list(query: Query): Promise<XmlElement> {
    const whole = { ...query, prefix: this.#prefix, 'encoding-type': 'url' };
    const answer = await this.#send('GET', this.#bucketPath, { query: whole });
    return readXml(await storeText(answer, ANSWER_LIMITS.characters), ANSWER_LIMITS);
  }

  /** The key of a listed element. @throws UnconfinedError */
  #confined(document: XmlElement, element: XmlElement): string {
    const listed = childText(element, 'Key') ?? '';
    return this.#own(childText(document, 'EncodingType') === 'url' ? decodeListed(listed) : listed);
  }

  /** @throws UnconfinedError for a key that is not below the prefix, or that a store might resolve to one that is not */
  #own(key: string): string {
    if (!key.startsWith(this.#prefix) || hasDotSegment(key)) throw new UnconfinedError('a name outside the prefix');
    return key;
  }

  #pathOf(key: string): string {
    return `${this.#bucketPath}/${encodeKey(this.#own(key))}`;
  }

  /** @throws StoreRefusal unless the store did it, or says that there is no such object */
  async #send(
    method: string,
    path: string,
    {
      query = {},
      headers = {},
      body = null,
    }: { query?: Query; headers?: Record<string, string>; body?: Buffer | null },
  ): Promise<Dispatcher.ResponseData> {
    this.#signal.throwIfAborted();
    const request = { method, path, query, headers, body };
    const limits = { signal: this.#signal, milliseconds: STORE_MILLISECONDS };
    const answer = await sendToStore(this.#store, request, limits);
    const { statusCode: status } = answer;
    if (status >= 200 && status < 300) return answer;
    if (status === 404 && method === 'DELETE') return answer;
    throw new StoreRefusal(`the store answered ${status} ${await codeOf(answer)}`, status);
  }
}

function pageOf<Item>(document: XmlElement, name: string, read: (element: XmlElement) => Item): Page<Item> {
  const { children = [] } = document;
  const items = children.filter((child) => child.name === name).map(read);
  return { items, truncated: childText(document, 'IsTruncated') === 'true' };
}

/** The code of an error document, if it has one of S3. */
async function codeOf(answer: Dispatcher.ResponseData): Promise<string> {
  try {
    const document = await readXml(await storeText(answer, 64 * 1024), { characters: 64 * 1024, elements: 200 });
    const code = childText(document, 'Code') ?? '';
    return PREDEFINED_CODE.test(code) ? code : '';
  } catch {
    // Not a document of S3: the status says it all.
    return '';
  }
}
