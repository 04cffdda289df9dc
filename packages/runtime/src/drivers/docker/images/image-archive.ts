// Reads an image archive from a package, as `docker save` or an OCI tool writes it, and returns what may be used.
// Untrusted until every digest, size and path has been checked; the engine gets nothing before that.
import { createHash, type Hash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { limits } from '@platform/contract';
import { type Extract, extract, type Pack, pack } from 'tar-stream';
import * as z from 'zod';
import { ImageArchiveError } from './image-archive-error.ts';
import { type LayerMeter, rewriteLayer } from './layer.ts';

export interface ImageArchive {
  /** Lowest first. A layer may be named several times, and is unpacked as often. */
  readonly layers: readonly ImageLayer[];
  readonly config: ImageConfig;
}

/** A layer as it is written anew for the engine. */
export interface ImageLayer {
  /** Entry of the archive that holds it. */
  readonly name: string;
  /** As written anew: an uncompressed tar of so many bytes. */
  readonly bytes: number;
  /** The digest of those bytes. */
  readonly digest: string;
  /** What its files and folders take where the engine unpacks them. */
  readonly diskBytes: number;
}

/** Bytes of a manifest or configuration. */
export const LARGEST_JSON = 256 * 1024;
const MOST_JSON = 8 * 1024 * 1024;
/** Of an archive, beside the content of its files: headers, and what fills blocks. */
const MOST_FRAMING = 64 * 1024 * 1024;
export const MOST_LAYERS = 127;
const GZIP = Buffer.from([0x1f, 0x8b]);
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** The processor of this machine, as images name it. */
export function processor(): string | undefined {
  return ARCHITECTURES[process.arch];
}

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const descriptor = z.object({
  digest,
  platform: z.object({ os: z.string(), architecture: z.string() }).optional(),
});
const index = z.object({ manifests: z.array(descriptor).min(1).max(32) });
const manifest = z.object({ config: descriptor, layers: z.array(descriptor).min(1).max(MOST_LAYERS) });
const savedManifest = z
  .array(z.object({ Config: z.string(), Layers: z.array(z.string()).min(1).max(MOST_LAYERS) }))
  .length(1);
const words = z.array(z.string().max(4_096)).max(256).nullish();
/** What is kept of the configuration; volumes, checks and labels are not. */
const imageConfig = z.object({
  os: z.literal('linux'),
  architecture: z.string(),
  rootfs: z.object({ type: z.literal('layers'), diff_ids: z.array(digest).max(MOST_LAYERS) }),
  config: z
    .object({ Env: words, Entrypoint: words, Cmd: words, WorkingDir: z.string().max(4_096).nullish() })
    .nullish(),
});
export type ImageConfig = z.infer<typeof imageConfig>;

/** The archive's bytes as they were before it was compressed, if it was. */
export function readArchive(file: string): Readable {
  const descriptor = openSync(file, 'r');
  const begin = Buffer.alloc(GZIP.length);
  readSync(descriptor, begin, 0, begin.length, 0);
  closeSync(descriptor);
  const raw = createReadStream(file);
  if (!begin.equals(GZIP)) return raw;
  const plain = createGunzip();
  // Its failure is that of what is returned, which the caller reads.
  pipeline(raw, plain).catch(() => undefined);
  return plain;
}

/** @throws ImageArchiveError */
export async function checkImageArchive(file: string): Promise<ImageArchive> {
  const found = await readEntries(file);
  const json = <Value>(name: string, shape: z.ZodType<Value>): Value => {
    const text = found.json.get(name);
    const parsed = shape.safeParse(text === undefined ? undefined : parseJson(text));
    if (!parsed.success) throw new ImageArchiveError(`has no usable ${name}.`);
    return parsed.data;
  };
  const { configName, layers } = found.names.has('index.json') ? ofLayout(json) : ofSaved(json);
  for (const layer of layers) if (!found.names.has(layer)) throw new ImageArchiveError('lacks one of its layers.');
  const config = json(configName, imageConfig);
  if (config.architecture !== processor()) {
    throw new ImageArchiveError(`is for ${config.architecture} processors, which this machine does not have.`);
  }
  const { diff_ids: digests } = config.rootfs;
  if (digests.length !== layers.length) throw new ImageArchiveError('does not name its layers rightly.');
  const read = await readLayers(file, layers);
  return {
    config,
    layers: layers.map((name, index) => {
      const layer = read.get(name);
      if (layer === undefined || layer.plainDigest !== digests[index])
        throw new ImageArchiveError('contains something that does not match its digest.');
      return layer;
    }),
  };
}

/** Reads each layer as it will be written, and counts it as often as it is named. */
async function readLayers(
  file: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, ImageLayer & { readonly plainDigest: string }>> {
  const uses = new Map<string, number>();
  for (const name of names) uses.set(name, (uses.get(name) ?? 0) + 1);
  const layers = new Map<string, ImageLayer & { readonly plainDigest: string }>();
  const sum = { plain: 0, files: 0, disk: 0 };
  await eachEntry(file, async (entry, name) => {
    const times = uses.get(name);
    if (times === undefined) return entry.resume();
    const plain = createHash('sha256');
    let diskBytes = 0;
    const meter: LayerMeter = {
      read(bytes) {
        plain.update(bytes);
        sum.plain += bytes.length;
        if (sum.plain > limits.packageUnpacked.value) throw tooLarge();
      },
      entry(taken) {
        diskBytes += taken.diskBytes;
        sum.disk += taken.diskBytes * times;
        sum.files += taken.files * times;
        if (sum.disk > limits.packageUnpacked.value) throw tooLarge();
        if (sum.files > limits.imageEntries.value)
          throw new ImageArchiveError(`has more than ${limits.imageEntries.value} files and folders in its layers.`);
      },
    };
    const written = createHash('sha256');
    let bytes = 0;
    const target = pack();
    const rewritten = rewriteLayer(entry, target, meter).then(
      () => target.finalize(),
      (error: unknown) => target.destroy(asError(error)),
    );
    for await (const piece of target as AsyncIterable<Buffer>) {
      written.update(piece);
      bytes += piece.length;
    }
    await rewritten;
    layers.set(name, {
      ...{ name, bytes, diskBytes },
      digest: `sha256:${written.digest('hex')}`,
      plainDigest: `sha256:${plain.digest('hex')}`,
    });
  });
  return layers;
}

/** Writes one layer of a checked archive anew, once more. */
export async function writeLayer(entry: ArchiveEntry, target: ReturnType<Pack['entry']>): Promise<void> {
  const layer = pack();
  const rewritten = rewriteLayer(entry, layer, { read: () => undefined, entry: () => undefined }).then(
    () => layer.finalize(),
    (error: unknown) => layer.destroy(asError(error)),
  );
  await pipeline(layer, target);
  await rewritten;
}

export type ArchiveEntry = Extract extends AsyncIterable<infer Source> ? Source : never;

type ReadJson = <Value>(name: string, shape: z.ZodType<Value>) => Value;

/** An OCI layout: index, perhaps one for each platform, manifest. */
function ofLayout(json: ReadJson): { configName: string; layers: string[] } {
  const top = choose(json('index.json', index).manifests);
  const either = json(blob(top), z.union([manifest, index]));
  const image = 'manifests' in either ? json(blob(choose(either.manifests)), manifest) : either;
  return { configName: blob(image.config.digest), layers: image.layers.map((layer) => blob(layer.digest)) };
}

function ofSaved(json: ReadJson): { configName: string; layers: string[] } {
  const [image] = json('manifest.json', savedManifest);
  if (image === undefined) throw new ImageArchiveError('contains no image.');
  return { configName: image.Config, layers: image.Layers };
}

function choose(manifests: z.infer<typeof index>['manifests']): string {
  const fitting = manifests.filter(
    ({ platform }) => platform === undefined || (platform.os === 'linux' && platform.architecture === processor()),
  );
  const [only, ...others] = fitting;
  if (only === undefined) throw new ImageArchiveError('has nothing for processors of this machine.');
  if (others.length > 0) throw new ImageArchiveError('contains more than one image.');
  return only.digest;
}

const blob = (name: string): string => `blobs/sha256/${name.slice('sha256:'.length)}`;

/**
 * Reads an archive to its end; `each` reads the content of one file of it, or lets it pass.
 * @throws ImageArchiveError
 */
export async function eachEntry(
  file: string,
  each: (entry: ArchiveEntry, name: string) => Promise<unknown> | unknown,
): Promise<void> {
  const archive = extract();
  let framing = 0;
  let entries = 0;
  // Content counts when its header is read, which is before it. What has no content would otherwise cost a pass of any length.
  const counted = async function* (pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      framing += piece.length;
      if (framing > MOST_FRAMING) throw tooLarge();
      yield piece;
    }
  };
  // A failure ends the loop below as well.
  pipeline(readArchive(file), counted, archive).catch((error: unknown) => archive.destroy(asError(error)));
  try {
    for await (const entry of archive) {
      const { type, name, size = 0 } = entry.header;
      // Whatever a folder says, nothing of it follows.
      if (type !== 'directory') framing -= size;
      entries += 1;
      if (entries > limits.packageEntries.value) throw new ImageArchiveError('contains too many files.');
      if (type === 'directory') entry.resume();
      else if (type !== 'file' && type !== 'contiguous-file') throw new ImageArchiveError('contains a link.');
      else await each(entry, name.replace(/^(\.\/)+/, ''));
    }
  } catch (error) {
    if (error instanceof ImageArchiveError) throw error;
    throw new ImageArchiveError('is not a readable archive.');
  }
}

interface Entries {
  readonly names: ReadonlySet<string>;
  readonly json: ReadonlyMap<string, string>;
}

async function readEntries(file: string): Promise<Entries> {
  const names = new Set<string>();
  const json = new Map<string, string>();
  let kept = 0;
  let bytes = 0;
  await eachEntry(file, async (entry, name) => {
    if (names.has(name)) throw new ImageArchiveError('contains a file twice.');
    names.add(name);
    bytes += entry.header.size ?? 0;
    if (bytes > limits.packageUnpacked.value) throw tooLarge();
    const content = new Content(name);
    await pipeline(entry, content);
    content.check();
    if (content.text === undefined) return;
    kept += content.text.length;
    if (kept <= MOST_JSON) json.set(name, content.text);
  });
  return { names, json };
}

/** One entry: its digest, and its text while that is short. */
class Content extends Writable {
  readonly #name: string;
  readonly #hash: Hash = createHash('sha256');
  #begin: Buffer[] | undefined = [];
  #length = 0;

  constructor(name: string) {
    super();
    this.#name = name;
  }

  get text(): string | undefined {
    return this.#begin === undefined ? undefined : Buffer.concat(this.#begin).toString('utf8');
  }

  check(): void {
    const named = /^blobs\/sha256\/([0-9a-f]{64})$/.exec(this.#name)?.[1];
    if (named !== undefined && this.#hash.digest('hex') !== named) {
      throw new ImageArchiveError('contains something that does not match its digest.');
    }
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#hash.update(chunk);
    this.#length += chunk.length;
    if (this.#length <= LARGEST_JSON) this.#begin?.push(chunk);
    else this.#begin = undefined;
    done();
  }
}

const tooLarge = () => new ImageArchiveError('is too large when unpacked.');

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
