// Downloads an image from a registry as an archive: verifies every part by its digest and declared size, and limits all
// together to the size of a package.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ImageReference, limits, sizeText } from '@platform/contract';
import { type Pack, pack } from 'tar-stream';
import * as z from 'zod';
import type { Log } from '../../../clock.ts';
import { LARGEST_JSON, MOST_LAYERS, processor } from './image-archive.ts';
import { openRegistry, parseJson, type RegistryClient, RegistryError, readAtMost } from './registry.ts';

export interface FetchOptions {
  readonly reference: ImageReference;
  /** Where the archive is written: an OCI layout. */
  readonly file: string;
  readonly abort: AbortSignal;
  readonly log: Log;
  /** Milliseconds for all of it. Default: ten minutes. */
  readonly limit?: number;
  /** Bytes, as they come. Default: what a package may have. */
  readonly largest?: number;
}

const LIMIT = 10 * 60_000;
const SAY_EVERY = 5_000;

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const piece = z.object({ digest, size: z.int().min(0) });
const index = z.object({
  manifests: z
    .array(piece.extend({ platform: z.object({ os: z.string(), architecture: z.string() }).optional() }))
    .min(1)
    .max(64),
});
const manifest = z.object({ config: piece, layers: z.array(piece).min(1).max(MOST_LAYERS) });
type Piece = z.infer<typeof piece>;

/** @throws RegistryError, or the reason of `abort` */
export async function fetchImage(options: FetchOptions): Promise<void> {
  const { reference, abort, limit = LIMIT } = options;
  const late = AbortSignal.timeout(limit);
  const signal = AbortSignal.any([abort, late]);
  const client = openRegistry(reference, signal);
  try {
    await write(client, options, signal);
  } catch (error) {
    abort.throwIfAborted();
    if (late.aborted) throw new RegistryError(`it took longer than ${limit / 60_000} minutes.`, { passing: true });
    if (error instanceof RegistryError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new RegistryError(`${reference.registry} broke off (${reason}).`, { passing: true });
  } finally {
    await client.close();
  }
}

async function write(client: RegistryClient, options: FetchOptions, signal: AbortSignal): Promise<void> {
  const { reference, file, log, largest = limits.packagePacked.value } = options;
  const top = await readManifest(client, reference.digest);
  const chosen = 'manifests' in top.value ? await readManifest(client, fitting(top.value.manifests)) : top;
  if ('manifests' in chosen.value) throw new RegistryError('it is a list of lists.', { passing: false });
  const pieces = [...new Map([chosen.value.config, ...chosen.value.layers].map((one) => [one.digest, one])).values()];
  const bytes = pieces.reduce((sum, { size }) => sum + size, 0);
  if (bytes > largest) {
    throw new RegistryError(`it has ${sizeText(bytes, Math.ceil)}, and ${sizeText(largest, Math.floor)} are allowed.`, {
      passing: false,
    });
  }
  const about = { image: `${reference.registry}/${reference.repository}@${reference.digest}`, bytes };
  log.info(about, 'an image is being fetched');
  const progress = sayProgress(log, about);
  const archive = pack();
  const written = pipeline(archive, createWriteStream(file, { mode: 0o600, flags: 'wx' }), { signal });
  // Waited for at the end; until then its failure is that of whatever is being written.
  written.catch(() => undefined);
  const entry = (name: string, content: Buffer) => archive.entry({ name, mtime: new Date(0) }, content);
  try {
    entry('index.json', Buffer.from(JSON.stringify({ manifests: [{ digest: chosen.digest }] })));
    entry(nameOf(chosen.digest), chosen.bytes);
    for (const one of pieces) await copy(await client.blob(one.digest), { archive, piece: one, progress, signal });
    archive.finalize();
  } catch (error) {
    archive.destroy();
    throw error;
  } finally {
    // The file is closed before anybody removes it. Which of the two errors counts is decided above and below.
    await written.catch(() => undefined);
  }
  await written;
  log.info(about, 'an image was fetched');
}

async function readManifest(client: RegistryClient, wanted: string) {
  const bytes = await readAtMost(await client.manifest(wanted), LARGEST_JSON);
  if (digestOf(bytes) !== wanted) throw mismatch();
  const parsed = z.union([index, manifest]).safeParse(parseJson(bytes.toString('utf8')));
  if (!parsed.success) throw new RegistryError('its manifest is not one that this machine knows.', { passing: false });
  return { digest: wanted, bytes, value: parsed.data };
}

/** The one entry of a list that runs here. */
function fitting(manifests: z.infer<typeof index>['manifests']): string {
  const own = manifests.filter(({ platform }) => platform?.os === 'linux' && platform.architecture === processor());
  const [only, ...others] = own;
  if (only === undefined) throw new RegistryError('there is none for processors of this machine.', { passing: false });
  if (others.length > 0) throw new RegistryError('its list has several for this machine.', { passing: false });
  return only.digest;
}

interface Copy {
  readonly archive: Pack;
  readonly piece: Piece;
  readonly progress: (bytes: number) => void;
  readonly signal: AbortSignal;
}

async function copy(body: Readable, { archive, piece: { digest: wanted, size }, progress, signal }: Copy) {
  const hash = createHash('sha256');
  let length = 0;
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      length += chunk.length;
      hash.update(chunk);
      progress(chunk.length);
      if (length > size) done(mismatch());
      else done(null, chunk);
    },
    flush(done) {
      done(length === size && `sha256:${hash.digest('hex')}` === wanted ? null : mismatch());
    },
  });
  await pipeline(body, checked, archive.entry({ name: nameOf(wanted), size, mtime: new Date(0) }), { signal });
}

function sayProgress(log: Log, about: { readonly bytes: number }): (bytes: number) => void {
  let here = 0;
  let said = performance.now();
  return (bytes) => {
    here += bytes;
    if (performance.now() - said < SAY_EVERY) return;
    said = performance.now();
    log.info({ ...about, here }, 'an image is being fetched');
  };
}

const nameOf = (of: string): string => `blobs/sha256/${of.slice('sha256:'.length)}`;
const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const mismatch = () => new RegistryError('something in it does not match its digest.', { passing: false });
