// Reads the members of a gzip file one after the other: pigz, bgzip and files that were joined have several, and every byte of
// the file must belong to one (RFC 1952), so that no two readers see two different packages in one upload.
import type { TransformOptions } from 'node:stream';
import { crc32, createInflateRaw, type InflateRaw, type ZlibOptions } from 'node:zlib';
import { checkGzipTrailer, GZIP_TRAILER_BYTES, gzipHeaderLength } from './gzip-header.ts';
import { packageFault } from './package-fault.ts';

/** More than bgzip makes of the largest package, which begins one for every 64 KiB. */
const MOST_MEMBERS = 40_000;
/** Not destroyed by itself: what it left of a chunk is looked at after its end. */
const INFLATE: ZlibOptions & TransformOptions = { chunkSize: 64 * 1024, autoDestroy: false };

/**
 * The unpacked bytes of all members, as they are asked for.
 *
 * @throws RefusalError when `source` is not one intact member after the other
 */
export async function* unpackedMembers(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const input = new Input(source);
  if (await input.isOver()) throw packageFault('The package is empty.');
  for (let count = 1; !(await input.isOver()); count += 1) {
    if (count > MOST_MEMBERS) throw packageFault(`The gzip file has more than ${MOST_MEMBERS} members.`);
    if (count > 1 && !(await input.beginsMember()))
      throw packageFault('There is more data after the end of the gzip file.');
    await input.dropHeader();
    yield* unpackedMember(input);
  }
}

async function* unpackedMember(input: Input): AsyncGenerator<Buffer> {
  const inflate = createInflateRaw(INFLATE);
  const unpacked = { size: 0, crc: 0 };
  const fed = feed(input, inflate).catch((error: unknown) => {
    inflate.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  try {
    for await (const chunk of inflate as AsyncIterable<Buffer>) {
      unpacked.size += chunk.length;
      unpacked.crc = crc32(chunk, unpacked.crc);
      yield chunk;
    }
    await fed;
  } catch (error) {
    throw isZlibError(error) ? packageFault('The gzip file is damaged or cut short.') : error;
  } finally {
    inflate.destroy();
  }
  checkGzipTrailer(await input.take(GZIP_TRAILER_BYTES), unpacked);
}

/** Until the compressed data has ended: what is behind it goes back. */
async function feed(input: Input, inflate: InflateRaw): Promise<void> {
  for (let chunk = await input.next(); chunk !== null; chunk = await input.next()) {
    const before = inflate.bytesWritten;
    await new Promise((resolve) => inflate.write(chunk, resolve));
    const taken = inflate.bytesWritten - before;
    if (taken === chunk.length) continue;
    input.giveBack(chunk.subarray(taken));
    return;
  }
  inflate.end();
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_');
}

/** The packed bytes, of which some are looked at before they are taken. */
class Input {
  readonly #source: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);
  #hasEnded = false;

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** @returns at least one byte; `null` at the end */
  async next(): Promise<Buffer | null> {
    while (this.#held.length === 0 && !this.#hasEnded) await this.#pull();
    const chunk = this.#held;
    this.#held = Buffer.alloc(0);
    return chunk.length === 0 ? null : chunk;
  }

  giveBack(rest: Buffer): void {
    this.#held = this.#held.length === 0 ? rest : Buffer.concat([rest, this.#held]);
  }

  async isOver(): Promise<boolean> {
    return !(await this.#has(1));
  }

  async beginsMember(): Promise<boolean> {
    return (await this.#has(2)) && this.#held.readUInt16BE(0) === 0x1f8b;
  }

  /** @throws RefusalError when fewer are left */
  async take(bytes: number): Promise<Buffer> {
    if (!(await this.#has(bytes))) throw cutShort();
    const taken = this.#held.subarray(0, bytes);
    this.#held = this.#held.subarray(bytes);
    return taken;
  }

  /** @throws RefusalError when what follows is no header of a member */
  async dropHeader(): Promise<void> {
    for (;;) {
      const length = gzipHeaderLength(this.#held);
      if (length !== null) {
        this.#held = this.#held.subarray(length);
        return;
      }
      if (!(await this.#has(this.#held.length + 1))) throw cutShort();
    }
  }

  async #has(bytes: number): Promise<boolean> {
    while (this.#held.length < bytes && !this.#hasEnded) await this.#pull();
    return this.#held.length >= bytes;
  }

  async #pull(): Promise<void> {
    const { done, value } = await this.#source.next();
    if (done === true) this.#hasEnded = true;
    else this.#held = this.#held.length === 0 ? value : Buffer.concat([this.#held, value]);
  }
}

function cutShort(): Error {
  return packageFault('The gzip file is cut short.');
}
