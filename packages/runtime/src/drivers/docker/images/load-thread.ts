// The thread that load-image.ts starts for one image: checks its archive, says how large it is, and hands it to the engine once
// the answer says under which name.
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { parentPort, workerData } from 'node:worker_threads';
import { pack } from 'tar-stream';
import { followed } from '../base-image.ts';
import { openEngine } from '../engine.ts';
import { checkImageArchive, eachEntry, type ImageArchive, writeLayer } from './image-archive.ts';
import { ImageArchiveError } from './image-archive-error.ts';
import type { Called, LoadReport, ToLoad } from './load-image.ts';

const RESERVED = /^(PLATFORM_|PROVIDER_)/;

async function load({ file, socketPath }: ToLoad): Promise<void> {
  const archive = await checkImageArchive(file);
  const layers = archive.layers.map(({ bytes, diskBytes }) => ({ bytes, diskBytes }));
  say({ checked: layers });
  const [called]: Called[] = parentPort === null ? [] : await once(parentPort, 'message');
  if (called === undefined) return;
  const engine = await openEngine(socketPath);
  const body = new PassThrough();
  const [progress] = await Promise.all([engine.loadImage(body, { quiet: true }), write(body, file, archive, called)]);
  await followed(engine, progress);
}

/** An archive as the engine takes it, with our name and configuration, and the layers as we write them. */
async function write(body: PassThrough, file: string, { layers, config }: ImageArchive, called: Called): Promise<void> {
  const target = pack();
  target.pipe(body);
  const { Env, Entrypoint, Cmd, WorkingDir } = config.config ?? {};
  const kept = {
    os: config.os,
    architecture: config.architecture,
    rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
    config: {
      Env: (Env ?? []).filter((line) => !RESERVED.test(line)),
      Entrypoint: Entrypoint ?? null,
      Cmd: Cmd ?? null,
      WorkingDir: WorkingDir ?? '',
      Labels: called.labels,
    },
  };
  const paths = new Map(layers.map((layer, number) => [layer.name, { layer, path: `layer-${number}.tar` }]));
  target.entry({ name: 'config.json' }, JSON.stringify(kept));
  target.entry(
    { name: 'manifest.json' },
    JSON.stringify([
      { Config: 'config.json', RepoTags: [called.name], Layers: layers.map(({ name }) => paths.get(name)?.path) },
    ]),
  );
  await eachEntry(file, async (entry, name) => {
    const known = paths.get(name);
    if (known === undefined) entry.resume();
    else await writeLayer(entry, target.entry({ name: known.path, size: known.layer.bytes }));
  });
  target.finalize();
}

function say(report: LoadReport): void {
  parentPort?.postMessage(report);
}

try {
  await load(workerData);
  say({ loaded: true });
} catch (error) {
  say({
    failed: error instanceof Error ? error.message : String(error),
    by: error instanceof ImageArchiveError ? 'archive' : 'engine',
  });
} finally {
  // Its connections to the engine would keep it.
  parentPort?.close();
}
