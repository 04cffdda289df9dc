// Encrypts messages beside the thread that answers requests: for each there are two operations on an elliptic curve,
// which take longer than all the rest of sending it.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { PushAddress } from './push-address.ts';

export interface EncryptionJob extends Pick<PushAddress, 'p256dh' | 'auth'> {
  readonly text: string;
}

export type EncryptionResult = { readonly body: Uint8Array } | { readonly failure: string };

/** One core is left to requests. */
const THREADS = Math.max(1, Math.min(4, availableParallelism() - 1));
/** To one thread at a time: crossing to it and back costs as much as a fifth of an encryption. */
const BATCH = 8;
const STOPPED = 'encryption was stopped';

interface Waiting {
  readonly job: EncryptionJob;
  readonly done: (body: Buffer) => void;
  readonly failed: (error: Error) => void;
}

/** Threads begin with the first message: a platform that sends none has none. */
export class EncryptionPool {
  readonly #queue: Waiting[] = [];
  readonly #idle: Worker[] = [];
  readonly #threads = new Map<Worker, Waiting[]>();
  #closed = false;

  /** @throws Error for keys that are none */
  encrypt(address: Pick<PushAddress, 'p256dh' | 'auth'>, text: string): Promise<Buffer> {
    return new Promise((done, failed) => {
      if (this.#closed) throw new Error(STOPPED);
      const { p256dh, auth } = address;
      this.#queue.push({ job: { p256dh, auth, text }, done, failed });
      this.#hand();
    });
  }

  /** What is under way, and whatever is asked afterwards, fails. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { failed } of this.#queue.splice(0)) failed(new Error(STOPPED));
    await Promise.all([...this.#threads.keys()].map((thread) => thread.terminate()));
  }

  #hand(): void {
    if (this.#queue.length === 0) return;
    const thread = this.#idle.pop() ?? (this.#threads.size < THREADS ? this.#begin() : undefined);
    if (thread === undefined) return;
    const batch = this.#queue.splice(0, BATCH);
    this.#threads.set(thread, batch);
    thread.postMessage(batch.map(({ job }) => job));
  }

  #begin(): Worker {
    const thread = new Worker(new URL('./encryption-thread.ts', import.meta.url));
    // What it works on is waited for by somebody; it alone is no reason to stay.
    thread.unref();
    let reason = new Error(STOPPED);
    thread.on('message', (results: readonly EncryptionResult[]) => this.#take(thread, results));
    thread.on('error', (error) => {
      reason = error instanceof Error ? error : new Error(String(error));
    });
    thread.once('exit', () => this.#lost(thread, reason));
    return thread;
  }

  #take(thread: Worker, results: readonly EncryptionResult[]): void {
    const batch = this.#threads.get(thread) ?? [];
    this.#threads.set(thread, []);
    this.#idle.push(thread);
    this.#hand();
    for (const [place, { done, failed }] of batch.entries()) {
      const result = results[place];
      if (result !== undefined && 'body' in result) done(Buffer.from(result.body.buffer));
      else failed(new Error(result?.failure ?? 'the thread left it out'));
    }
  }

  /** The next message begins another one. */
  #lost(thread: Worker, reason: Error): void {
    const batch = this.#threads.get(thread) ?? [];
    this.#threads.delete(thread);
    const place = this.#idle.indexOf(thread);
    if (place !== -1) this.#idle.splice(place, 1);
    for (const { failed } of batch) failed(reason);
    this.#hand();
  }
}
