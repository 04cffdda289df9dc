// Streams the export of an account (docs/decisions/leaving.md). At any moment one file of it is in memory, a package a
// piece of it; nothing is read ahead of the client.
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { type Pack, pack } from 'tar-stream';
import type { AccountFile } from '../account-files.ts';
import { type Confirming, confirmed } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import type { ExportPlaces } from './export-places.ts';
import { readme } from './readme.ts';

interface Export extends Omit<Confirming, 'operation'> {
  readonly reply: FastifyReply;
  /** Rejects when the session has ended: so does the download then, at the next file. */
  readonly stillAllowed: () => Promise<unknown>;
}

/**
 * Takes over the reply. A client that goes away, or a failure in the middle, closes the connection: what arrived is no
 * complete archive then.
 *
 * @throws RefusalError `concurrency_limited`, and as {@link confirmed}
 */
export async function exportAccount(
  context: CoreContext,
  places: ExportPlaces,
  { reply, stillAllowed, ...confirming }: Export,
): Promise<void> {
  const { caller } = confirming;
  const place = places.take(caller.accountKey);
  try {
    await confirmed(context, { ...confirming, operation: 'account.export' }, (trx) =>
      context.lifecycle.securityEvent(trx, caller, { kind: 'export-taken' }),
    );
    const now = context.clock();
    const archive = pack();
    const folder = `${caller.accountName}-${now.toISOString().slice(0, 10)}`;
    beginDownload(reply, `${folder}.tar.gz`);
    const written = () => reply.raw.socket?.bytesWritten ?? 0;
    const before = written();
    place.begin({ bytes: () => written() - before, end: () => reply.raw.destroy() });
    const files = writeFiles(archive, { folder, now, stillAllowed }, filesOf(context, caller, now));
    try {
      await pipeline(archive, createGzip(), reply.raw);
      context.log.info({ account: caller.accountName }, 'an account was exported');
    } catch (error) {
      if (!reply.raw.destroyed) reply.raw.destroy();
      context.log.info({ account: caller.accountName, err: error }, 'the export of an account broke off');
    }
    archive.destroy();
    await files;
  } finally {
    place.leave();
  }
}

async function* filesOf(context: CoreContext, caller: Confirming['caller'], now: Date): AsyncGenerator<AccountFile> {
  yield { path: 'README.txt', content: Buffer.from(readme(context.config.origin, caller.accountName, now)) };
  yield* context.lifecycle.filesOf(caller);
}

/** Never rejects: a failure destroys the archive with its reason, which ends the pipeline that reads it. */
async function writeFiles(
  archive: Pack,
  { folder, now, stillAllowed }: { readonly folder: string; readonly now: Date } & Pick<Export, 'stillAllowed'>,
  files: AsyncIterable<AccountFile>,
): Promise<void> {
  try {
    for await (const { path, content } of files) {
      if (archive.destroyed) return;
      await stillAllowed();
      const size = Buffer.isBuffer(content) ? content.length : content.bytes;
      const entry = archive.entry({ name: `${folder}/${path}`, size, mode: 0o600, mtime: now });
      await pipeline(Buffer.isBuffer(content) ? [content] : content.open(), entry);
    }
    archive.finalize();
  } catch (error) {
    archive.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

function beginDownload(reply: FastifyReply, name: string): void {
  reply.hijack();
  for (const [header, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(header, value);
  }
  reply.raw.writeHead(200, {
    'content-type': 'application/gzip',
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'no-store',
    // For proxies in front that would collect it first.
    'x-accel-buffering': 'no',
  });
}
