// A thread that encrypts what encryption-pool.ts hands to it, a batch at a time.
import { serveJobs } from '../background/thread-jobs.ts';
import { encryptFor } from './encrypt.ts';
import type { EncryptionJob } from './encryption-pool.ts';

// Node distinguishes raw keys from key objects by an internal error, a dozen times for each message; without its unused
// stack trace a message takes a third less time.
Error.stackTraceLimit = 0;

// A copy, because a small buffer is part of a larger one, and all of that would be sent.
serveJobs(({ p256dh, auth, text }: EncryptionJob) => new Uint8Array(encryptFor({ p256dh, auth }, Buffer.from(text))));
