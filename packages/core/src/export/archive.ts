// A tar archive that is written no faster than it is read. tar-stream holds back content alone: a million folders and empty
// files would all wait in memory for a client that takes its time.
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { pack } from 'tar-stream';

type Headers = Parameters<ReturnType<typeof pack>['entry']>[0];

/** What may wait for its reader. */
const MOST_AHEAD = 256 * 1024;

export class Archive {
  readonly #pack = pack();
  #ahead = 0;
  #wake: () => void = () => undefined;

  constructor() {
    const push = this.#pack.push.bind(this.#pack);
    this.#pack.push = (piece: Buffer | null) => {
      this.#ahead += piece?.length ?? 0;
      return push(piece);
    };
  }

  get destroyed(): boolean {
    return this.#pack.destroyed;
  }

  async *read(): AsyncGenerator<Buffer> {
    for await (const piece of this.#pack as AsyncIterable<Buffer>) {
      yield piece;
      this.#ahead -= piece.length;
      this.#wake();
    }
  }

  /** @throws Error when the content has another size, or the archive was destroyed */
  async file(
    header: Headers & { readonly size: number },
    content: Buffer | Readable,
    through: (content: AsyncIterable<Buffer>) => AsyncIterable<Buffer>,
  ): Promise<void> {
    await this.#room();
    const entry = this.#pack.entry(header);
    if (Buffer.isBuffer(content)) await pipeline([content], entry);
    else await pipeline(content, through, entry);
  }

  /** An entry without content. */
  async add(header: Omit<Headers, 'size' | 'pax'>): Promise<void> {
    await this.#room();
    this.#pack.entry(header);
  }

  finalize(): void {
    this.#pack.finalize();
  }

  destroy(error?: Error): void {
    this.#pack.destroy(error);
    this.#wake();
  }

  async #room(): Promise<void> {
    while (this.#ahead > MOST_AHEAD && !this.#pack.destroyed)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    if (this.#pack.destroyed) throw new Error('the archive was given up');
  }
}
