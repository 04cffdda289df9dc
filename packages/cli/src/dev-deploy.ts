// Puts the present state of a folder into effect: a version of its own, installed with all it asks for, backend
// started.
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import * as path from 'node:path';
import { type InstallationId, type Manifest, RefusalError } from '@platform/contract';
import {
  type CoreContext,
  Followers,
  installApp,
  type NamedAccount,
  type Nodes,
  publishPackage,
  replacePermissions,
  selectOwn,
  upgradeApp,
  withdrawVersion,
} from '@platform/core/operator';
import { planPackage, type SdkFiles } from './packaging/plan-package.ts';
import { readManifest } from './packaging/read-manifest.ts';
import { writePackage } from './packaging/write-package.ts';

export interface DevApp {
  readonly context: CoreContext;
  readonly nodes: Nodes;
  readonly account: NamedAccount;
  readonly folder: string;
  /** A folder for packages in the making. */
  readonly scratch: string;
  readonly sdk: SdkFiles;
}

export interface Deployed {
  readonly installationId: InstallationId;
  readonly name: string;
  readonly version: string;
  readonly hasBackend: boolean;
}

/**
 * @throws PackageProblem when the folder is not a package
 * @throws RefusalError when core refuses it, for example because the app id belongs to another account
 */
export async function deploy(app: DevApp): Promise<Deployed> {
  const { context, account, folder, sdk } = app;
  const { manifest: base } = await readManifest(folder);
  const change = {
    id: devId(base.id),
    name: `${base.name.slice(0, 54)} (dev)`,
    version: devVersion(base.version, context.clock()),
    // What is tried out is nobody else's to install.
    visibility: 'private',
  } as const;
  const plan = await planPackage({ folder, change, sdk });
  const { manifest } = plan;
  const { path: file } = await writePackage(plan, path.join(app.scratch, 'package.tgz'));
  const request = {
    appId: manifest.id,
    version: manifest.version,
    publisher: account.key,
    source: createReadStream(file),
  };
  await publishPackage(context, request).finally(() => request.source.destroy());
  const installationId = await putInPlace(app, manifest);
  const hasBackend = manifest.workload !== undefined;
  if (hasBackend) await startBackend(app, installationId);
  return { installationId, name: manifest.name, version: manifest.version, hasBackend };
}

const LONGEST_ID = 40;

/** What is tried out is an app beside the published one, with data of its own: `notes` becomes `notes-dev`. */
export function devId(id: string): string {
  return `${id.slice(0, LONGEST_ID - '-dev'.length).replace(/-$/, '')}-dev`;
}

const DEV_VERSION = /[-.]dev\.\d+$/;

/** Below the version it is made from, above all that was made before: `1.2.0` becomes `1.2.0-dev.1763719042123`. */
export function devVersion(version: string, now: Date): string {
  const [release = version] = version.split('+', 1);
  return `${release}${release.includes('-') ? '.' : '-'}dev.${now.getTime()}`;
}

async function putInPlace(
  { context, account }: DevApp,
  { id, version, permissions }: Manifest,
): Promise<InstallationId> {
  const before = await selectOwn(context.database, account.key, id);
  if (before === undefined) await installApp(context, account, { appId: id, version });
  else {
    // The developer asks and answers: what the manifest newly requests is granted at once, here and nowhere else.
    await upgradeApp(context, account.key, id, { version, acceptResources: true });
    const grants = permissions.map(({ id: permission, resources }) => ({ id: permission, resources }));
    // This process receives no confirmations of nodes, so it waits for none.
    await replacePermissions(context, new Followers(context), account.key, id, grants);
    if (DEV_VERSION.test(before.version)) await withdrawVersion(context, id, before.version);
  }
  const installed = before ?? (await selectOwn(context.database, account.key, id));
  if (installed === undefined) throw new Error(`${id} was removed while it was being installed`);
  return installed.id;
}

/**
 * Starts the backend at once, so that errors show now and not at the first use. The log has the reason of a failure.
 */
async function startBackend({ nodes }: DevApp, installationId: InstallationId): Promise<void> {
  await nodes.start(installationId).catch((error: unknown) => {
    if (!(error instanceof RefusalError)) throw error;
  });
}

/** Names, sizes and times of all that is packed: equal while nothing changed. */
export async function folderState(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const part of ['frontend', 'workload']) {
    const entries = await readdir(path.join(folder, part), { recursive: true }).catch(() => []);
    for (const name of entries.sort()) await addFacts(hash, path.join(folder, part, name));
  }
  for (const name of ['manifest.json', 'package.json', 'package-lock.json'])
    await addFacts(hash, path.join(folder, name));
  return hash.digest('hex');
}

async function addFacts(hash: Hash, file: string): Promise<void> {
  // A file that is gone by now brings a change of its own.
  const facts = await lstat(file).catch(() => null);
  if (facts?.isDirectory() !== true) hash.update(`${file}\0${facts?.size}\0${facts?.mtimeMs}\0`);
}
