// A volume on its way from its node to core, as frames: what an entry is, and then its content. Core believes none of it:
// every length is bounded before it is read, and every path stays below the folder of the volume.
import * as z from 'zod';
import { HARMFUL, plainLine } from './plain-text.ts';

/** Of one entry: a path at its longest, each character escaped in JSON, and its target. */
const MOST_ENTRY_BYTES = 64 * 1024;
/** Of one piece of a file. */
const MOST_PIECE_BYTES = 1024 * 1024;
/** Of every piece but the last of a file: each costs its reader more than its bytes. */
export const LEAST_PIECE_BYTES = 4 * 1024;
/** Characters of a path below the folder of the volume; what lies deeper is left out. */
export const MOST_PATH = 3_000;
/** Folders in each other. */
export const MOST_DEPTH = 100;

const HEAD_BYTES = 8;
const kinds = { entry: 1, piece: 2, zeros: 3 } as const;

/** What is escaped in names: nothing a person would see, or what some system takes for the end of a name. */
const ESCAPED = new RegExp(`[${HARMFUL}\\\\]`, 'u');
/** A part of a path: as on the disk, with `%XX` for each byte that {@link nameOfBytes} escapes. */
const NAME = new RegExp(`^(?!\\.{1,2}$)[^${HARMFUL}\\\\/]{1,765}$`, 'u');

const path = z
  .string()
  .max(MOST_PATH)
  .refine((text) => {
    const names = text.split('/');
    return names.length <= MOST_DEPTH && names.every((name) => NAME.test(name));
  }, 'no path below the volume');
/** Milliseconds since 1970. What no archive can say is said as the nearest that one can. */
const modified = z.number().transform((time) => Math.min(Math.max(0, time), (2 ** 31 - 1) * 1_000));

export const volumeEntry = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('folder'), path, modified }),
  z.strictObject({ type: z.literal('file'), path, modified, bytes: z.int().min(0), executable: z.boolean() }),
  /** Another name of a file that came before. */
  z.strictObject({ type: z.literal('name'), path, of: path }),
  z.strictObject({ type: z.literal('link'), path, target: z.string().min(1).max(MOST_PATH) }),
  z.strictObject({ type: z.literal('left out'), path: z.string().max(4 * MOST_PATH), why: z.string().max(200) }),
  z.strictObject({ type: z.literal('end') }),
]);
export type VolumeEntry = z.infer<typeof volumeEntry>;

/** What a node sends of a volume is not of this form. */
export class VolumeStreamError extends Error {
  override readonly name = 'VolumeStreamError';
}

/**
 * A name on a disk as text: UTF-8 as it is, but controls, backslashes and what {@link HARMFUL} names as `%XX` for each byte, and so
 * a `%` that would be taken for one of these; of a name that is not UTF-8 every byte beyond ASCII. Turning each `%XX` into its
 * byte gives the name back.
 */
export function nameOfBytes(name: Uint8Array): string {
  const bytes = Buffer.from(name.buffer, name.byteOffset, name.byteLength);
  const text = bytes.toString('utf8');
  const isText = Buffer.from(text, 'utf8').equals(bytes);
  const parts = isText ? [...text] : Array.from(bytes, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : byte));
  return parts
    .map((part, at) => {
      if (typeof part === 'number') return escaped([part]);
      const isEscape = part === '%' && /^[0-9A-Fa-f]{2}$/.test(parts.slice(at + 1, at + 3).join(''));
      return isEscape || ESCAPED.test(part) ? escaped(Buffer.from(part)) : part;
    })
    .join('');
}

/**
 * Whether a link leads to a place below the folder of the volume, wherever that is unpacked, as long as its own folder is none
 * that a link leads to: it goes up first if at all, and not beyond the folder.
 */
export function leadsInside({ path: at, target }: { readonly path: string; readonly target: string }): boolean {
  if (target.startsWith('/')) return false;
  const names = target.split('/').filter((name) => name !== '' && name !== '.');
  const ups = names.findIndex((name) => name !== '..');
  const up = ups < 0 ? names.length : ups;
  return up < at.split('/').length && names.slice(up).every((name) => NAME.test(name));
}

function escaped(bytes: Iterable<number>): string {
  return Array.from(bytes, (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

export function entryFrame(entry: z.input<typeof volumeEntry>): Buffer {
  const body = Buffer.from(JSON.stringify(entry));
  return Buffer.concat([head(kinds.entry, body.length), body]);
}

/** Before so many bytes of the file. */
export function pieceHead(bytes: number): Buffer {
  return head(kinds.piece, bytes);
}

/** In place of so many bytes that are all 0. */
export function zerosFrame(bytes: number): Buffer {
  return head(kinds.zeros, bytes);
}

function head(kind: number, length: number): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES);
  bytes.writeUInt8(kind, 0);
  bytes.writeUIntBE(length, 2, 6);
  return bytes;
}

/** Reads the frames of a volume one by one, and nothing ahead of who asks. */
export class VolumeReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#pieces = body[Symbol.asyncIterator]();
  }

  /** @throws VolumeStreamError for what is no entry, also for the content of a file that was not read */
  async entry(): Promise<VolumeEntry> {
    const { kind, length } = await this.#head();
    if (kind !== kinds.entry || length > MOST_ENTRY_BYTES) throw new VolumeStreamError('an entry is missing');
    const text = (await this.#take(length)).toString('utf8');
    const entry = volumeEntry.safeParse(parseJson(text));
    if (!entry.success) throw new VolumeStreamError('an entry is not of the agreed form');
    const { data } = entry;
    return data.type === 'left out' ? { ...data, path: plainLine(data.path), why: plainLine(data.why) } : data;
  }

  /**
   * The content of the file that came last.
   *
   * @throws VolumeStreamError when its pieces are not exactly so many bytes
   */
  async *content(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      const { kind, length } = await this.#head();
      const isContent = kind === kinds.zeros || (kind === kinds.piece && length <= MOST_PIECE_BYTES);
      if (!isContent || length < Math.min(left, LEAST_PIECE_BYTES) || length > left)
        throw new VolumeStreamError('the content of a file is not what its entry says');
      left -= length;
      if (kind === kinds.zeros) yield* zeros(length);
      else yield* this.#some(length);
    }
  }

  async #head(): Promise<{ readonly kind: number; readonly length: number }> {
    const bytes = await this.#take(HEAD_BYTES);
    return { kind: bytes.readUInt8(0), length: bytes.readUIntBE(2, 6) };
  }

  async #take(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.#some(bytes)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** So many bytes as they come. */
  async *#some(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      if (this.#rest.length === 0) this.#rest = await this.#more();
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
      if (part.length > 0) yield part;
    }
  }

  async #more(): Promise<Buffer> {
    const { done, value } = await this.#pieces.next();
    if (done === true) throw new VolumeStreamError('it broke off');
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
}

const ZEROS = Buffer.alloc(64 * 1024);

function* zeros(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, left);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // which is no entry
  }
}
