// Keys as the app knows them and as the store does: below the prefix of the installation. Everything that names an
// object passes through here, both ways.
import { limits, objectStorageView, sizeText } from '@platform/contract';
import { hasDotSegment, UnconfinedError } from '@platform/http/s3';
import { S3Refusal } from './s3-error.ts';

/** What the app takes for its bucket. */
export const { bucket: APP_BUCKET } = objectStorageView;

/** Control characters and halves of surrogate pairs, which XML cannot hold; U+FFFE and U+FFFF neither. */
const UNREADABLE = /[\u0000-\u001f\u007f\ufffe\uffff]|\p{Cs}/u;

export class KeySpace {
  readonly #prefix: string;

  /** @param prefix of the installation, ending with `/` */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** @throws S3Refusal for a key that is empty, too long, or has a segment that stores may resolve */
  keyInStore(key: string): string {
    if (key === '') throw new S3Refusal('InvalidArgument', 'The key is empty.');
    return this.#prefix + checked(key);
  }

  /** A listing prefix or a position in a listing, which may be empty. */
  partInStore(part: string): string {
    return this.#prefix + checked(part);
  }

  /** @throws UnconfinedError when the store names something else */
  inApp(name: string): string {
    if (!name.startsWith(this.#prefix)) throw new UnconfinedError('a name outside the prefix');
    return name.slice(this.#prefix.length);
  }

  /** A sentence of the store without the names that are the platform's. */
  sentenceInApp(sentence: string, bucket: string): string {
    return sentence.replaceAll(this.#prefix, '').replaceAll(bucket, APP_BUCKET);
  }
}

function checked(key: string): string {
  const { value: most } = limits.objectStorageKey;
  if (Buffer.byteLength(key) > most)
    throw new S3Refusal('KeyTooLongError', `A key has at most ${sizeText(most)} of UTF-8.`);
  if (UNREADABLE.test(key)) throw new S3Refusal('InvalidArgument', 'A key holds no control characters.');
  if (hasDotSegment(key)) throw new S3Refusal('InvalidArgument', 'No segment of a key may be "." or "..".');
  return key;
}

/** Whether stores would read it differently in a header or a document. */
export function isUnreadable(text: string): boolean {
  return UNREADABLE.test(text);
}

/** @throws S3Refusal for broken encodings and invalid UTF-8 */
export function decodeStrictly(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Refusal('InvalidArgument', 'The encoding of the request is broken: use percent-encoded UTF-8.');
  }
}
