// The files of an app for the app that made it, which goes on from them: what it handed in last.
import { createReadStream } from 'node:fs';
import { type InstallationId, limits, type MadeSource, type RouteQuery, refuse } from '@platform/contract';
import { findAppVersion, type PackagedFile, packageFile, readPackagedFiles } from '../catalog/face.ts';
import { systemCode } from '../config/start-error.ts';
import type { CoreContext } from '../context.ts';
import { type AppKit, isAuthored } from './app-kit.ts';
import { selectDraftOf, selectMadeVersion } from './made-queries.ts';
import type { Files } from './pack-files.ts';
import { selectMaker, selectPackage } from './queries.ts';

/** An app, and who asks for it. */
export interface MadeApp {
  readonly accountKey: string;
  readonly appId: string;
  /** The app that asks. */
  readonly madeBy: string;
  readonly installationId: InstallationId;
}

interface LastVersion {
  readonly version: string;
  readonly state: MadeSource['state'];
  readonly files: readonly PackagedFile[];
}

/** The same whether there is such an app or not: what others made is none of the caller's business. */
export function notMade(appId: string) {
  return refuse('not_found', `You made no app with the id ${appId}. platform-apps.create makes one.`);
}

/** @throws RefusalError `not_found` for an app that it did not make, `not_authorized` for one that its owner went on with */
export async function readLastVersion(context: CoreContext, made: MadeApp): Promise<LastVersion> {
  const { database } = context;
  const waiting = await selectDraftOf(database, { ...made, now: context.clock() });
  const packed = waiting === undefined ? undefined : await selectPackage(database, waiting.id);
  if (waiting !== undefined && packed !== undefined)
    return { version: waiting.version, state: 'waiting', files: await readPackagedFiles(oneByOne(packed)) };
  const { version, packageHash } = await newestMade(context, made);
  const files = await readStored(context, packageHash);
  // It was deleted since it was looked up.
  if (files === undefined)
    throw refuse('not_found', `Version ${version} of ${made.appId} was just deleted. Ask again.`);
  return { version, state: 'accepted', files };
}

/** @returns `undefined` for a package that is not there any more: versions are deleted at any moment */
export async function readStored(context: CoreContext, packageHash: string): Promise<PackagedFile[] | undefined> {
  try {
    return await readPackagedFiles(createReadStream(packageFile(context, packageHash)) as AsyncIterable<Buffer>);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function newestMade({ database }: CoreContext, { accountKey, appId, madeBy }: MadeApp) {
  if ((await selectMaker(database, accountKey, appId)) !== madeBy) throw notMade(appId);
  const newest = await findAppVersion(database, appId);
  if (newest === undefined || newest.ownerKey !== accountKey) throw notMade(appId);
  requirePrivate(appId, newest.visibility);
  const { version, packageHash } = newest;
  if ((await selectMadeVersion(database, accountKey, { appId, version })) !== packageHash)
    throw publishedByHand(appId, version);
  return newest;
}

/** @throws RefusalError `not_authorized` */
export function requirePrivate(appId: string, visibility: string): void {
  if (visibility !== 'private')
    throw refuse('not_authorized', `${appId} is no longer private, so it is its owner's alone.`);
}

export function publishedByHand(appId: string, version: string) {
  return refuse(
    'not_authorized',
    `Its owner published version ${version} of ${appId}. What you see of it are versions that you made.`,
  );
}

export async function* oneByOne(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** What its author wrote, by path. */
export function authoredFiles(kit: AppKit, { files }: Pick<LastVersion, 'files'>): Files {
  const texts = files.flatMap(({ path, text }) =>
    text === null || !isAuthored(kit, path) ? [] : [[path, text] as const],
  );
  return Object.fromEntries(texts);
}

/** @throws RefusalError as {@link readLastVersion}, and `not_found` for a path that it does not have */
export async function readSource(
  context: CoreContext,
  kit: AppKit,
  made: MadeApp,
  { path, offset }: RouteQuery<'services.apps.source'>,
): Promise<MadeSource> {
  const { version, state, files } = await readLastVersion(context, made);
  const own = files.filter((file) => isAuthored(kit, file.path));
  const asked = path === undefined ? own : own.filter((file) => file.path === path);
  if (asked.length === 0)
    throw refuse('not_found', `${made.appId} has no such file. It has ${own.map((file) => file.path).join(', ')}.`);
  let left: number = limits.madeAppText.value;
  const shown = asked.map(({ text, ...file }) => {
    if (text === null) return { ...file, text, next: null };
    if (path === undefined && text.length > left) return { ...file, text: null, next: 0 };
    const start = path === undefined ? 0 : Math.min(offset, text.length);
    const part = wholeCharacters(text.slice(start, start + left));
    left -= part.length;
    const end = start + part.length;
    return { ...file, text: part, next: end < text.length ? end : null };
  });
  return { appId: made.appId as MadeSource['appId'], version, state, files: shown };
}

/** Without the first half of a pair at the end, which begins the next piece. */
function wholeCharacters(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}
