// Receives an uploaded package: stores its bytes in a scratch folder while it checks them, in one pass and with
// bounded memory, and unpacks the frontend beside them. Nothing of it is visible until it is published.
import { mkdir, rm } from 'node:fs/promises';
import * as path from 'node:path';
import type { Readable } from 'node:stream';
import {
  checkExecutable,
  EXECUTABLE_HEAD_BYTES,
  type ExecutableCheck,
  fieldErrors,
  limits,
  type Manifest,
  manifest as manifestSchema,
  notValid,
  type Processor,
  type RefusalError,
  refuse,
  repeatsMember,
  sizeText,
} from '@platform/contract';
import { bytesOf } from '../../blobs/guard-upload.ts';
import { storeStream } from '../../blobs/store-stream.ts';
import { syncFolder } from '../../blobs/sync-folder.ts';
import { tooDeep } from '../../http/bodies/parse-body.ts';
import { checkPictures } from './check-pictures.ts';
import { FrontendWriter } from './frontend-writer.ts';
import { inflatePackage } from './inflate-package.ts';
import { packageFault, quoted } from './package-fault.ts';
import { PackageNames } from './package-names.ts';
import { readTarEntries, type TarEntry } from './tar-entries.ts';
import { takeFrontend } from './unpack-frontend.ts';

export interface PackageScratch {
  /** The uploaded bytes. */
  readonly blob: string;
  /** Holds `frontend/`, when the package has one. */
  readonly unpacked: string;
}

export interface VerifiedPackage {
  /** SHA-256 of the uploaded bytes, hexadecimal. */
  readonly hash: string;
  /** Bytes as uploaded. */
  readonly size: number;
  /** Bytes of the archive unpacked, headers included. */
  readonly unpacked: number;
  /** By what its unpacked frontend is recognised (frontend-digest.ts); `null` without one. */
  readonly frontendDigest: string | null;
  readonly manifest: Manifest;
}

export interface ExpectedPackage {
  /** What the manifest must say; absent takes the manifest's word. */
  readonly identity?: { readonly appId: string; readonly version: string };
  /** Only packages that come with the platform may take system roles. */
  readonly system: boolean;
}

/** Checks packages, in this thread or in another (check-pool.ts). */
export type VerifyPackage = typeof verifyPackage;

/**
 * @param source the upload; it is not destroyed when the package is refused, so that the refusal can be answered
 * @param scratch paths in an existing folder of our own, removed by the caller
 * @throws RefusalError `payload_too_large` beyond `limits.packagePacked`, `invalid_request` for everything that is
 *   wrong with the package, with `errors` for its manifest
 */
export function verifyPackage(
  source: Readable,
  scratch: PackageScratch,
  expected: ExpectedPackage,
): Promise<VerifiedPackage> {
  return verifyBytes(bytesOf(source), scratch, expected);
}

/** The same for an upload that comes from elsewhere. */
export async function verifyBytes(
  source: AsyncIterable<Buffer>,
  scratch: PackageScratch,
  expected: ExpectedPackage,
): Promise<VerifiedPackage> {
  const frontend = new FrontendWriter(path.join(scratch.unpacked, 'frontend'));
  await mkdir(scratch.unpacked, { mode: 0o700 });
  const contents = new Contents(frontend);
  let unpackedBytes = 0;
  const blob = await storeStream(source, scratch.blob, {
    limit: limits.packagePacked.value,
    exceeded: () => refuse('payload_too_large', `A package may have at most ${sizeText(limits.packagePacked.value)}.`),
    async consume(bytes) {
      try {
        unpackedBytes = await inflatePackage(bytes, async (unpacked) => {
          for await (const entry of readTarEntries(unpacked)) await contents.take(entry);
        });
      } finally {
        await frontend.finish();
      }
    },
  });
  const manifest = parseManifest(contents.manifest);
  const processor = checkManifest(manifest, contents, expected);
  // So that a machine with that processor is chosen.
  if (manifest.workload !== undefined && processor !== undefined) manifest.workload.processor = processor;
  const faults = await checkPictures(path.join(scratch.unpacked, 'frontend'), manifest);
  if (faults.length > 0) throw misfit(faults);
  if (manifest.frontend === undefined) await rm(scratch.unpacked, { recursive: true });
  else await syncFolder(scratch.unpacked);
  const frontendDigest = manifest.frontend === undefined ? null : frontend.digest.value();
  return { ...blob, unpacked: unpackedBytes, frontendDigest, manifest };
}

/**
 * What is in the archive: names of all entries, the manifest's bytes, the frontend on the disk, and which files of the
 * workload can be its executable. The manifest may come after them.
 */
class Contents {
  readonly names = new PackageNames();
  readonly executables = new Map<string, ExecutableCheck>();
  /** Of the files of the workload. */
  readonly sizes = new Map<string, number>();
  readonly #frontend: FrontendWriter;
  manifest: Buffer | undefined;

  constructor(frontend: FrontendWriter) {
    this.#frontend = frontend;
  }

  async take(entry: TarEntry): Promise<void> {
    this.names.add(entry.name, entry.kind);
    if (entry.name === 'manifest.json') {
      if (entry.kind !== 'file' || entry.size > limits.manifestSize.value)
        throw packageFault(`manifest.json must be a file of at most ${sizeText(limits.manifestSize.value)}.`);
      this.manifest = await collect(entry.body);
      return;
    }
    if (entry.name.startsWith('workload/') && entry.kind === 'file') {
      this.sizes.set(entry.name, entry.size);
      this.executables.set(entry.name, checkExecutable(await headOf(entry.body, EXECUTABLE_HEAD_BYTES)));
    }
    await takeFrontend(entry, this.#frontend);
  }
}

async function collect(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}

/** The rest is skipped. */
async function headOf(body: AsyncIterable<Buffer>, most: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    parts.push(part);
    size += part.length;
    if (size >= most) break;
  }
  return Buffer.concat(parts).subarray(0, most);
}

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true });

function parseManifest(bytes: Buffer | undefined): Manifest {
  if (bytes === undefined) throw packageFault('The package has no manifest.json at its root.');
  let text: string;
  let value: unknown;
  let isTooDeep = false;
  try {
    text = STRICT_UTF8.decode(bytes);
    isTooDeep = tooDeep(text);
    value = isTooDeep ? null : JSON.parse(text);
  } catch (error) {
    throw packageFault(`manifest.json is not valid JSON in UTF-8${placeOf(error)}.`);
  }
  if (isTooDeep) throw packageFault(`manifest.json is nested deeper than ${limits.jsonDepth.value} levels.`);
  if (repeatsMember(text, value)) throw packageFault('manifest.json names a member twice.');
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success) throw notValid('manifest.json', fieldErrors(parsed.error));
  return parsed.data;
}

/** Where a text stops being JSON, as far as that is known. */
function placeOf(error: unknown): string {
  const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(error instanceof SyntaxError ? error.message : '') ?? [];
  return line === undefined ? '' : `: see line ${line}, column ${column}`;
}

/** @returns the processor that its executable is compiled for, if it has one */
function checkManifest(manifest: Manifest, contents: Contents, expected: ExpectedPackage): Processor | undefined {
  const errors: { path: string; message: string }[] = [];
  const { identity } = expected;
  if (identity !== undefined && manifest.id !== identity.appId)
    errors.push({ path: 'id', message: `is ${quoted(manifest.id)}, but is published as ${quoted(identity.appId)}` });
  if (identity !== undefined && manifest.version !== identity.version)
    errors.push({
      path: 'version',
      message: `is ${quoted(manifest.version)}, but is published as ${quoted(identity.version)}`,
    });
  if (manifest.systemRoles !== undefined && manifest.systemRoles.length > 0 && !expected.system)
    errors.push({ path: 'systemRoles', message: 'is only for apps that come with the platform' });
  const declared = [
    { path: 'frontend.entry', folder: 'frontend', file: manifest.frontend?.entry },
    { path: 'icon', folder: 'frontend', file: manifest.icon },
    ...(manifest.screenshots ?? []).map((file, index) => ({ path: `screenshots[${index}]`, folder: 'frontend', file })),
    { path: 'workload.entry', folder: 'workload', file: manifest.workload?.entry },
    { path: 'workload.agent.instructions', folder: 'workload', file: manifest.workload?.agent?.instructions },
  ];
  for (const { path, folder, file } of declared) {
    if (file !== undefined && !contents.names.hasFile(`${folder}/${file}`))
      errors.push({ path, message: `names ${quoted(file)}, which is not in ${folder}/ of the package` });
  }
  const { runtime, entry, processor, agent } = manifest.workload ?? {};
  const most = limits.agentInstructions.value;
  if (agent !== undefined && (contents.sizes.get(`workload/${agent.instructions}`) ?? 0) > most)
    errors.push({
      path: 'workload.agent.instructions',
      message: `names ${quoted(agent.instructions)}, which has more than ${sizeText(most)}`,
    });
  const executable = runtime === 'binary' ? contents.executables.get(`workload/${entry}`) : undefined;
  if (executable?.ok === false)
    errors.push({ path: 'workload.entry', message: `names ${quoted(entry ?? '')}, which ${executable.fault}` });
  if (executable?.ok && processor !== undefined && processor !== executable.processor)
    errors.push({
      path: 'workload.processor',
      message: `is ${processor}, but ${quoted(entry ?? '')} is compiled for ${executable.processor}`,
    });
  if (errors.length > 0) throw misfit(errors);
  return executable?.ok ? executable.processor : undefined;
}

export function misfit(errors: readonly { readonly path: string; readonly message: string }[]): RefusalError {
  return packageFault('manifest.json does not fit the package.', errors);
}
