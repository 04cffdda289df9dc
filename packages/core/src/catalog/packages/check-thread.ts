// A thread that checks the packages that check-pool.ts hands to it.
import { once } from 'node:events';
import type { MessagePort } from 'node:worker_threads';
import { type Refusal, RefusalError } from '@platform/contract';
import { serveJobs } from '../../background/thread-jobs.ts';
import { systemCode } from '../../config/start-error.ts';
import { type ExpectedPackage, type PackageScratch, type VerifiedPackage, verifyBytes } from './verify-package.ts';

export interface CheckJob {
  /** Asked for each piece by a message; answers with it. */
  readonly upload: MessagePort;
  readonly scratch: PackageScratch;
  readonly expected: ExpectedPackage;
}

/** `broke`: the upload failed with this code of the system. */
export type UploadPiece =
  | { readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly end: true }
  | { readonly broke: string };

export type CheckOutcome =
  | { readonly verified: VerifiedPackage }
  | { readonly refusal: Refusal }
  | { readonly code: string | undefined; readonly message: string };

async function* piecesOf(upload: MessagePort): AsyncGenerator<Buffer> {
  for (;;) {
    const answer = once(upload, 'message');
    upload.postMessage('more');
    const [piece] = (await answer) as [UploadPiece];
    if ('end' in piece) return;
    if ('broke' in piece) throw Object.assign(new Error('the upload broke'), { code: piece.broke });
    yield Buffer.from(piece.bytes.buffer);
  }
}

serveJobs(async ({ upload, scratch, expected }: CheckJob): Promise<CheckOutcome> => {
  try {
    return { verified: await verifyBytes(piecesOf(upload), scratch, expected) };
  } catch (error) {
    if (error instanceof RefusalError) return { refusal: error.refusal };
    return { code: systemCode(error), message: error instanceof Error ? error.message : String(error) };
  } finally {
    upload.close();
  }
});
