// Encrypts messages in threads: each needs two elliptic-curve operations, which take longer than the rest of sending
// it.
import { ThreadPool } from '../background/thread-pool.ts';
import type { PushAddress } from './push-address.ts';

export interface EncryptionJob extends Pick<PushAddress, 'p256dh' | 'auth'> {
  readonly text: string;
}

/** To one thread at a time: crossing to it and back costs as much as a fifth of an encryption. */
const BATCH = 8;

export class EncryptionPool {
  readonly #pool = new ThreadPool<EncryptionJob, Uint8Array>({
    program: new URL('./encryption-thread.ts', import.meta.url),
    batch: BATCH,
    memoryMiB: 64,
    milliseconds: 10_000,
  });

  /** @throws Error for keys that are none */
  async encrypt({ p256dh, auth }: Pick<PushAddress, 'p256dh' | 'auth'>, text: string): Promise<Buffer> {
    return Buffer.from((await this.#pool.run({ p256dh, auth, text })).buffer);
  }

  /** Rejects running jobs and all later calls. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}
