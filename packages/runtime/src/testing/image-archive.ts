// Image archives for tests, as an OCI tool writes them: one layer with Node, its libraries and one script.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

/** What may be wrong with one. */
export interface Spoilt {
  readonly spoil?: 'layer' | 'link' | 'processor';
}

const NODE = '/usr/bin/node';

/** @param config Members of the image's configuration; the script is its entry point. */
export async function imageArchive(source: string, config: object, { spoil }: Spoilt = {}): Promise<Buffer> {
  // One that is refused never runs, and need not be large.
  const programs = spoil === undefined ? libraries() : [];
  const layer = await tar([...programs, ['srv/index.mjs', Buffer.from(source)]]);
  const packed = gzipSync(layer, { level: 1 });
  const own = { x64: 'amd64', arm64: 'arm64' }[process.arch as 'x64' | 'arm64'];
  const settings = Buffer.from(
    JSON.stringify({
      os: 'linux',
      architecture: spoil === 'processor' ? 's390x' : own,
      rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
      config: { Entrypoint: [NODE, '/srv/index.mjs'], ...config },
    }),
  );
  const manifest = Buffer.from(
    JSON.stringify({ config: { digest: digestOf(settings) }, layers: [{ digest: digestOf(packed) }] }),
  );
  const index = Buffer.from(JSON.stringify({ manifests: [{ digest: digestOf(manifest) }] }));
  const broken = gzipSync(Buffer.alloc(1_024));
  return tar(
    [
      ['index.json', index],
      [blob(settings), settings],
      [blob(manifest), manifest],
      [blob(packed), spoil === 'layer' ? broken : packed],
    ],
    spoil === 'link' ? 'shortcut' : undefined,
  );
}

const digestOf = (content: Buffer) => `sha256:${createHash('sha256').update(content).digest('hex')}`;
const blob = (content: Buffer) => `blobs/sha256/${digestOf(content).slice(7)}`;

function libraries(): [string, Buffer][] {
  const paths = execFileSync('ldd', [process.execPath], { encoding: 'utf8' }).match(/\/\S+/g) ?? [];
  return [
    [NODE.slice(1), readFileSync(process.execPath)],
    ...paths.map((path): [string, Buffer] => [path.slice(1), readFileSync(realpathSync(path))]),
  ];
}

function tar(files: readonly (readonly [string, Buffer])[], link?: string): Promise<Buffer> {
  const archive = pack();
  for (const [name, content] of files) archive.entry({ name, mode: 0o755 }, content);
  if (link !== undefined) archive.entry({ name: link, type: 'symlink', linkname: '/etc/passwd' });
  archive.finalize();
  return buffer(archive);
}
