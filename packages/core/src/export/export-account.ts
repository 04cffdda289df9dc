// Streams the export of an account (docs/decisions/leaving.md). At any moment one file of it is in memory, of packages and
// volumes a piece; nothing is read ahead of the client.
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import type { AccountEntry } from '../account-files.ts';
import { type Confirming, confirmed } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import { Archive } from './archive.ts';
import type { ExportPlaces } from './export-places.ts';
import { volumesOf } from './export-volumes.ts';
import { readme } from './readme.ts';

interface Export extends Omit<Confirming, 'operation'> {
  /** Whether it contains what apps keep in their volumes. */
  readonly volumes: boolean;
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
  { reply, stillAllowed, volumes, ...confirming }: Export,
): Promise<void> {
  const { caller } = confirming;
  const place = places.take(caller.accountKey);
  try {
    await confirmed(context, { ...confirming, operation: 'account.export' }, (trx) =>
      context.lifecycle.securityEvent(trx, caller, { kind: 'export-taken' }),
    );
    const now = context.clock();
    const archive = new Archive();
    const folder = `${caller.accountName}-${now.toISOString().slice(0, 10)}`;
    beginDownload(reply, `${folder}.tar.gz`);
    const written = () => reply.raw.socket?.bytesWritten ?? 0;
    const before = written();
    place.begin({ bytes: () => written() - before, end: () => reply.raw.destroy() });
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const entries = entriesOf(context, { caller, volumes, now, signal: gone.signal });
    const files = writeFiles(archive, { folder, now, stillAllowed }, entries);
    try {
      await pipeline(archive.read(), createGzip(), reply.raw);
      context.log.info({ account: caller.accountName }, 'an account was exported');
    } catch (error) {
      if (!reply.raw.destroyed) reply.raw.destroy();
      context.log.info({ account: caller.accountName, err: error }, 'the export of an account broke off');
    }
    archive.destroy();
    gone.abort();
    await files;
  } finally {
    place.leave();
  }
}

async function* entriesOf(
  context: CoreContext,
  {
    caller,
    volumes,
    now,
    signal,
  }: Pick<Export, 'caller' | 'volumes'> & { readonly now: Date; readonly signal: AbortSignal },
): AsyncGenerator<AccountEntry> {
  yield {
    path: 'README.txt',
    content: Buffer.from(readme({ origin: context.config.origin, accountName: caller.accountName, now, volumes })),
  };
  yield* context.lifecycle.filesOf(caller);
  if (volumes) yield* volumesOf(context, caller.accountKey, signal);
}

/** Never rejects: a failure destroys the archive with its reason, which ends the pipeline that reads it. */
async function writeFiles(
  archive: Archive,
  { folder, now, stillAllowed }: { readonly folder: string; readonly now: Date } & Pick<Export, 'stillAllowed'>,
  entries: AsyncIterable<AccountEntry>,
): Promise<void> {
  const name = (path: string) => `${folder}/${path}`;
  const check = everySecond(stillAllowed);
  try {
    for await (const entry of entries) {
      if (archive.destroyed) return;
      // Before each of core's own files; before those of a volume, of which there may be a million, as time goes by.
      await ('kind' in entry || 'modified' in entry ? check() : stillAllowed());
      if (!('kind' in entry)) {
        const { path, content, modified = now, executable = false } = entry;
        const size = Buffer.isBuffer(content) ? content.length : content.bytes;
        const header = { name: name(path), size, mode: executable ? 0o700 : 0o600, mtime: modified };
        await archive.file(header, Buffer.isBuffer(content) ? content : content.open(), checking(check));
      } else if (entry.kind === 'folder')
        await archive.add({ name: `${name(entry.path)}/`, type: 'directory', mode: 0o700, mtime: entry.modified });
      else if (entry.kind === 'link')
        await archive.add({ name: name(entry.path), type: 'symlink', linkname: entry.target, mtime: now });
      else await archive.add({ name: name(entry.path), type: 'link', linkname: name(entry.of), mtime: now });
    }
    archive.finalize();
  } catch (error) {
    archive.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

/** The content of a large file ends with the session too. */
function checking(check: () => Promise<unknown>) {
  return async function* (content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of content) {
      await check();
      yield piece;
    }
  };
}

const CHECK_MILLISECONDS = 1_000;

function everySecond(check: () => Promise<unknown>): () => Promise<unknown> {
  let last = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = performance.now();
    if (now - last < CHECK_MILLISECONDS) return;
    last = now;
    await check();
  };
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
