// The bytes of one item or file for an export. A client may read for hours, and whoever writes the file meanwhile must neither
// wait nor break the download: what is small is in memory, what is large in a file of the disk that has no name any more.
import { type FileHandle, open } from 'node:fs/promises';
import * as path from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { AccountFile } from '../../account-files.ts';
import { openScratch } from '../../blobs/scratch.ts';
import { isDiskFull } from '../../config/disk-space.ts';
import type { CoreContext } from '../../context.ts';
import { incomingBodies } from '../../http/bodies/large-bodies.ts';
import { openBody } from '../bodies/bodies.ts';

const HELD = 1_024 * 1_024;

interface KeptBody {
  readonly id: string;
  readonly size: number;
}

interface StagedBody {
  readonly content: AccountFile['content'];
  /** To be called whether it was read or not. */
  close(): Promise<void>;
}

export type StagingContext = Pick<CoreContext, 'database' | 'clock' | 'config' | 'log' | 'stopping'>;

const ATTEMPTS = 5;

/** A file of the archive for the bytes that a row has now. */
interface Staging<Row> {
  /** In the archive. */
  readonly path: string;
  /** `undefined` once it was deleted. */
  readonly read: () => Promise<Row | undefined>;
  readonly bodyOf: (row: Row) => KeptBody;
}

/** What came of it: the row whose bytes the archive has, or that it was written again whenever it was read. */
export type Staged<Row> = { readonly row: Row; readonly written: boolean };

/** @returns `null` for what was deleted meanwhile */
export async function* archived<Row>(
  context: StagingContext,
  { path: place, read, bodyOf }: Staging<Row>,
): AsyncGenerator<AccountFile, Staged<Row> | null> {
  for (let attempt = 1; ; attempt += 1) {
    const row = await read();
    if (row === undefined) return null;
    const staged = await stageBody(context, bodyOf(row));
    if (staged === null && attempt < ATTEMPTS) continue;
    if (staged === null) return { row, written: false };
    try {
      yield { path: place, content: staged.content };
    } finally {
      await staged.close();
    }
    return { row, written: true };
  }
}

/** @returns `null` when it was deleted meanwhile, also because something newer took its place */
async function stageBody(context: StagingContext, body: KeptBody): Promise<StagedBody | null> {
  const bytes = await openBody(context, body);
  if (bytes === undefined) return null;
  if (body.size <= HELD) return { content: await buffer(bytes), close: async () => undefined };
  // Without room on the disk, the client gets it from the database, for as long as it reads on.
  if (isDiskFull(context.config.packagesDirectory))
    return { content: { bytes: body.size, open: () => bytes }, close: async () => void bytes.destroy() };
  return stageOnDisk(bytes, body, incomingBodies(context.config.packagesDirectory));
}

async function stageOnDisk(bytes: Readable, body: KeptBody, folder: string): Promise<StagedBody> {
  const scratch = await openScratch(folder);
  let file: FileHandle | undefined;
  try {
    const staged = await open(path.join(scratch.folder, 'body'), 'wx+', 0o600);
    file = staged;
    for await (const piece of bytes) await staged.writeFile(piece as Buffer);
    return {
      content: { bytes: body.size, open: () => staged.createReadStream({ start: 0, autoClose: false }) },
      close: () => staged.close(),
    };
  } catch (error) {
    await file?.close();
    throw error;
  } finally {
    // The open file stays readable, and takes no space once it is closed, also by the end of the process.
    await scratch.close();
  }
}
