// Reads and checks manifest.json, with errors that name the member and say what is wrong.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { faultWords, fieldErrors, limits, type Manifest, manifest, repeatsMember, sizeText } from '@platform/contract';
import { PackageProblem } from './package-problem.ts';

export interface CheckedManifest {
  readonly manifest: Manifest;
  /** The bytes that go into the package. */
  readonly bytes: Buffer;
}

/** Members that take the place of those in the manifest: for builds between two releases, and for trying things out. */
export type ManifestChange = Partial<Pick<Manifest, 'id' | 'name' | 'version' | 'visibility'>>;

/** @throws {PackageProblem} with every fault of the manifest */
export async function readManifest(folder: string, change?: ManifestChange): Promise<CheckedManifest> {
  const path = join(folder, 'manifest.json');
  const source = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new PackageProblem([`${path} is missing: every package has a manifest.`]);
    throw new PackageProblem([`${path} cannot be read (${error.code}).`]);
  });
  return checkManifest(source, change);
}

/**
 * @param source the bytes of manifest.json
 * @throws {PackageProblem} with every fault of the manifest
 */
export function checkManifest(source: Buffer, change?: ManifestChange): CheckedManifest {
  if (source.length > limits.manifestSize.value) {
    throw new PackageProblem([
      `manifest.json has ${sizeText(source.length, Math.ceil)}; at most ${sizeText(limits.manifestSize.value)} are allowed.`,
    ]);
  }
  const value = { ...parse(source), ...change };
  const bytes = change === undefined ? source : Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
  const result = manifest.safeParse(value);
  if (result.success) return { manifest: result.data, bytes };
  throw new PackageProblem(fieldErrors(result.error).map((fault) => `manifest.json: ${faultWords(fault)}.`));
}

function parse(source: Buffer): object {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(source);
    const value: unknown = JSON.parse(text);
    if (repeatsMember(text, value)) throw new Error('it names a member twice');
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PackageProblem([`manifest.json is not valid JSON: ${reason}`]);
  }
  throw new PackageProblem(['manifest.json must hold one object.']);
}
