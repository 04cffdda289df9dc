// A thread that encrypts what encryption-pool.ts hands to it, a batch at a time.
import { parentPort } from 'node:worker_threads';
import { encryptFor } from './encrypt.ts';
import type { EncryptionJob, EncryptionResult } from './encryption-pool.ts';

// Node tells keys that are bytes from key objects by an error that it catches, a dozen times for each message; without
// the stack, which nobody sees, a message takes a third less.
Error.stackTraceLimit = 0;

parentPort?.on('message', (jobs: readonly EncryptionJob[]) => parentPort?.postMessage(jobs.map(resultOf)));

function resultOf({ p256dh, auth, text }: EncryptionJob): EncryptionResult {
  try {
    // A copy, because a small buffer is part of a larger one, and all of that would be sent.
    return { body: new Uint8Array(encryptFor({ p256dh, auth }, Buffer.from(text))) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}
