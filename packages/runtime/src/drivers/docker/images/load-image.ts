// Loads an image into the engine from a thread of its own, since an archive decides how much work reading it is: a few
// compressed bytes can be millions of headers. The thread ends after its time, and its memory is limited.
import { Worker } from 'node:worker_threads';
import { ImageArchiveError } from './image-archive-error.ts';

/** What the thread gets. */
export interface ToLoad {
  /** The archive. */
  readonly file: string;
  /** Of the engine. */
  readonly socketPath: string;
}

/** One layer: its bytes as they go to the engine, and what it takes where the engine unpacks it. */
export interface LayerSizes {
  readonly bytes: number;
  readonly diskBytes: number;
}

/** What the image is called in the engine. */
export interface Called {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

export type LoadReport =
  | { readonly checked: readonly LayerSizes[] }
  | { readonly loaded: true }
  | { readonly failed: string; readonly by: 'archive' | 'engine' };

/** The engine did not take the image; the message has its own words. */
export class EngineRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EngineRefusal';
  }
}

const READ_LIMIT_MS = 3 * 60_000;
/** For the engine, whose disk may be slow. */
const TAKE_LIMIT_MS = 10 * 60_000;
const HEAP_MIB = 192;

/**
 * @param accept is told the sizes of the layers, lowest first, before the engine gets anything; what it throws ends the load
 * @throws ImageArchiveError for what is wrong with the image, EngineRefusal, or the error of `accept`
 */
export async function loadImage(
  image: ToLoad,
  accept: (layers: readonly LayerSizes[]) => Promise<Called>,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const thread = new Worker(new URL('./load-thread.ts', import.meta.url), {
    workerData: image,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  });
  let late = setTimeout(
    () => reject(new ImageArchiveError(`takes longer than ${READ_LIMIT_MS / 60_000} minutes to read.`)),
    READ_LIMIT_MS,
  );
  async function handOver(layers: readonly LayerSizes[]): Promise<void> {
    clearTimeout(late);
    const called = await accept(layers);
    thread.postMessage(called);
    late = setTimeout(
      () => reject(new EngineRefusal(`it took longer than ${TAKE_LIMIT_MS / 60_000} minutes`)),
      TAKE_LIMIT_MS,
    );
  }
  thread.on('message', (report: LoadReport) => {
    if ('checked' in report) handOver(report.checked).catch(reject);
    else if ('loaded' in report) resolve();
    else reject(report.by === 'archive' ? new ImageArchiveError(report.failed) : new EngineRefusal(report.failed));
  });
  thread.on('error', (error) => reject(isOutOfMemory(error) ? tooMuch() : error));
  thread.on('exit', () => reject(new Error('the thread that loads an image ended without an answer')));
  try {
    await promise;
  } finally {
    clearTimeout(late);
    await thread.terminate();
  }
}

const tooMuch = () => new ImageArchiveError('takes too much memory to read.');

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
