// Reads an image archive from a package, as `docker save` or an OCI tool writes it, and returns what may be used.
// Untrusted until every digest, size and path has been checked; the engine gets nothing before that.
import { createHash, type Hash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { limits } from '@platform/contract';
import { extract } from 'tar-stream';
import * as z from 'zod';

/** The archive cannot be used. The message goes on after "The image of the package ". */
export class ImageArchiveError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ImageArchiveError';
  }
}

export interface ImageArchive {
  /** Hash of the archive, hexadecimal. */
  readonly hash: string;
  /** Entries of the archive that hold its layers, lowest first. */
  readonly layers: readonly string[];
  readonly config: ImageConfig;
}

/** Bytes of a manifest or configuration. */
export const LARGEST_JSON = 256 * 1024;
const MOST_JSON = 8 * 1024 * 1024;
export const MOST_LAYERS = 127;
const GZIP = Buffer.from([0x1f, 0x8b]);
/** Other compressions that engines undo (bzip2, xz, zstd): how large they become would be known too late. */
const UNCOUNTED = ['425a68', 'fd377a585a00', '28b52ffd'].map((bytes) => Buffer.from(bytes, 'hex'));
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
  if (config.rootfs.diff_ids.length !== layers.length) throw new ImageArchiveError('does not name its layers rightly.');
  return { hash: found.hash, layers, config };
}

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

interface Entries {
  readonly hash: string;
  readonly names: ReadonlySet<string>;
  readonly json: ReadonlyMap<string, string>;
}

async function readEntries(file: string): Promise<Entries> {
  const hash = createHash('sha256');
  const archive = extract();
  const source = readArchive(file);
  source.on('data', (chunk: Buffer) => hash.update(chunk));
  // A failure ends the loop below as well.
  pipeline(source, archive).catch(() => undefined);
  const names = new Set<string>();
  const json = new Map<string, string>();
  let kept = 0;
  let inflated = 0;
  try {
    for await (const entry of archive) {
      const { header } = entry;
      const name = header.name.replace(/^(\.\/)+/, '');
      if (header.type === 'directory') {
        entry.resume();
        continue;
      }
      if (header.type !== 'file' && header.type !== 'contiguous-file') throw new ImageArchiveError('contains a link.');
      if (names.size >= limits.packageEntries.value) throw new ImageArchiveError('contains too many files.');
      if (names.has(name)) throw new ImageArchiveError('contains a file twice.');
      names.add(name);
      const content = new Content(name, (bytes) => {
        inflated += bytes;
        if (inflated > limits.packageUnpacked.value) throw new ImageArchiveError('is too large when unpacked.');
      });
      await pipeline(entry, content);
      await content.inflated;
      content.check();
      if (content.text === undefined) continue;
      kept += content.text.length;
      if (kept <= MOST_JSON) json.set(name, content.text);
    }
  } catch (error) {
    if (error instanceof ImageArchiveError) throw error;
    throw new ImageArchiveError('is not a readable archive.');
  }
  return { hash: hash.digest('hex'), names, json };
}

/** One entry: its digest, its text while that is short, and how large it is when a layer is unpacked. */
class Content extends Writable {
  readonly #name: string;
  readonly #hash: Hash = createHash('sha256');
  readonly #count: (bytes: number) => void;
  #begin: Buffer[] | undefined = [];
  #length = 0;
  #gunzip: ReturnType<typeof createGunzip> | undefined;
  inflated: Promise<void> = Promise.resolve();

  constructor(name: string, count: (bytes: number) => void) {
    super();
    this.#name = name;
    this.#count = count;
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

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#length === 0 && chunk.subarray(0, GZIP.length).equals(GZIP)) this.#inflate();
    if (this.#length === 0 && UNCOUNTED.some((magic) => chunk.subarray(0, magic.length).equals(magic))) {
      done(new ImageArchiveError('is compressed in another way than gzip.'));
      return;
    }
    this.#hash.update(chunk);
    this.#length += chunk.length;
    if (this.#length <= LARGEST_JSON) this.#begin?.push(chunk);
    else this.#begin = undefined;
    if (this.#gunzip !== undefined) {
      if (this.#gunzip.write(chunk)) done();
      else this.#gunzip.once('drain', () => done());
      return;
    }
    try {
      this.#count(chunk.length);
      done();
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  }

  override _final(done: () => void): void {
    this.#gunzip?.end();
    done();
  }

  #inflate(): void {
    const gunzip = createGunzip();
    const counter = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        try {
          this.#count(chunk.length);
          done();
        } catch (error) {
          done(error instanceof Error ? error : new Error(String(error)));
        }
      },
    });
    this.#gunzip = gunzip;
    this.inflated = pipeline(gunzip, counter);
    this.inflated.catch((error: unknown) => {
      this.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
