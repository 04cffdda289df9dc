// Images for tests, as an OCI tool writes them: one layer with a static busybox and a small server that returns the
// arguments and environment it was started with.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { findProgram } from '../src/find-program.ts';

export interface ImageOptions {
  /** `none` cannot run, and needs no busybox. Default: the server, unless something is wrong with the image. */
  readonly programs?: 'none';
  /** What is wrong with it. */
  readonly spoil?: 'layer' | 'link' | 'processor' | 'compression';
  /** Permissions of its `/tmp`, which is root's. Default: it has none. */
  readonly temporaryMode?: number;
}

export interface TestImage {
  readonly config: Buffer;
  readonly layer: Buffer;
  readonly manifest: Buffer;
}

const TYPE = 'application/vnd.oci.image';
export const manifestType = `${TYPE}.manifest.v1+json`;

/** Answers `/cgi-bin/seen` with some of its environment and its user, as JSON. */
const SERVER = ['/bin/busybox', 'sh', '-c', 'exec /bin/busybox httpd -f -p "$PORT" -h /srv'];
const SEEN = `#!/bin/busybox sh
printf 'Content-Type: application/json\r\n\r\n'
printf '{"own":"%s","stolen":"%s","gateway":"%s","path":"%s","uid":%s}' \
  "$OF_THE_IMAGE" "$PLATFORM_S3_ENDPOINT" "$PLATFORM_API_URL" "$PATH" "$(/bin/busybox id -u)"
`;

/** Answers `/cgi-bin/keep` with what became of a file in `/tmp`, and its size in KiB. */
const KEEP = `#!/bin/busybox sh
printf 'Content-Type: text/plain\r\n\r\n'
/bin/busybox sh -c 'echo kept >/tmp/file && /bin/busybox cat /tmp/file' 2>&1
/bin/busybox df -k /tmp | /bin/busybox awk 'NR==2 {print $2}'
`;

/** Why there can be no image that runs here, or false. */
export function imageMissing(): string | false {
  return staticBusybox() === undefined ? 'apt-get install busybox-static' : false;
}

function staticBusybox(): Buffer | undefined {
  const program = findProgram('busybox');
  const content = program === undefined ? undefined : readFileSync(program);
  return content?.includes('/ld-linux') === false ? content : undefined;
}

/** @param config Members of the image's configuration; the server is its entry point. */
export async function testImage(
  config: object,
  { spoil, programs, temporaryMode }: ImageOptions = {},
): Promise<TestImage> {
  const busybox = spoil === undefined && programs === undefined ? staticBusybox() : Buffer.alloc(0);
  if (busybox === undefined) throw new Error(String(imageMissing()));
  const plain = await tar([
    ['bin/busybox', busybox],
    ['srv/cgi-bin/seen', Buffer.from(SEEN)],
    ['srv/cgi-bin/keep', Buffer.from(KEEP)],
    ...(temporaryMode === undefined ? [] : [['tmp/', temporaryMode] as const]),
  ]);
  const layer = spoil === 'compression' ? Buffer.from('QlpoOTFBWSZTWQ', 'base64') : gzipSync(plain, { level: 1 });
  const own = { x64: 'amd64', arm64: 'arm64' }[process.arch as 'x64' | 'arm64'];
  const settings = Buffer.from(
    JSON.stringify({
      os: 'linux',
      architecture: spoil === 'processor' ? 's390x' : own,
      rootfs: { type: 'layers', diff_ids: [digestOf(plain)] },
      config: { Entrypoint: SERVER, ...config },
    }),
  );
  const piece = (content: Buffer, mediaType: string) => ({
    mediaType,
    digest: digestOf(content),
    size: content.length,
  });
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      config: piece(settings, `${TYPE}.config.v1+json`),
      layers: [piece(layer, `${TYPE}.layer.v1.tar+gzip`)],
    }),
  );
  return { config: settings, layer, manifest };
}

/** The same as the archive that a package brings. */
export async function imageArchive(config: object, options: ImageOptions = {}): Promise<Buffer> {
  const image = await testImage(config, options);
  const index = Buffer.from(JSON.stringify({ manifests: [{ digest: digestOf(image.manifest) }] }));
  const broken = gzipSync(Buffer.alloc(1_024));
  return tar(
    [
      ['index.json', index],
      [blob(image.config), image.config],
      [blob(image.manifest), image.manifest],
      [blob(image.layer), options.spoil === 'layer' ? broken : image.layer],
    ],
    options.spoil === 'link' ? 'shortcut' : undefined,
  );
}

export const digestOf = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;
const blob = (content: Buffer) => `blobs/sha256/${digestOf(content).slice(7)}`;

/** @param files with their content; a folder, whose name ends in `/`, with its permissions */
function tar(files: readonly (readonly [string, Buffer | number])[], link?: string): Promise<Buffer> {
  const archive = pack();
  for (const [name, content] of files)
    if (typeof content === 'number') archive.entry({ name, mode: content, type: 'directory' });
    else archive.entry({ name, mode: 0o755 }, content);
  if (link !== undefined) archive.entry({ name: link, type: 'symlink', linkname: '/etc/passwd' });
  archive.finalize();
  return buffer(archive);
}
