// Splits the output of a container, which the engine sends as one stream of frames, into two streams with
// back-pressure.
import { PassThrough, type Readable } from 'node:stream';
import { gatherPieces } from '@platform/http';
import type { Container } from './engine.ts';

export interface Output {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the engine has sent the last of it, or was cut off. */
  readonly ended: Promise<void>;
  /** Continues with another stream of the same container. */
  follow(frames: Readable): void;
  /** There is no more to come. */
  end(): void;
}

const HEADER_BYTES = 8;
const STDERR = 2;

export function openOutput(): Output {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  // A container may have a frame for each byte.
  gatherPieces(stdout);
  gatherPieces(stderr);
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let current: Readable | undefined;
  const end = () => {
    current?.destroy();
    stdout.end();
    stderr.end();
    resolve();
  };
  return {
    stdout,
    stderr,
    ended,
    end,
    follow(frames) {
      current = frames;
      void carry(frames, stdout, stderr).then(() => {
        if (current === frames) resolve();
      });
    },
  };
}

/** What a container says, from `since` (seconds since 1970) until it ends. */
export async function framesOf(container: Container, since = 0): Promise<Readable> {
  const frames = await container.logs({ follow: true, stdout: true, stderr: true, since });
  // The types of the client name an interface of long ago; this is the response itself.
  return frames as Readable;
}

/** Frames: one byte says which stream, bytes 4 to 7 how long. Resolves at the end, however it came. */
async function carry(frames: Readable, stdout: PassThrough, stderr: PassThrough): Promise<void> {
  let held: Buffer = Buffer.alloc(0);
  let left = 0;
  let target = stdout;
  try {
    for await (const chunk of frames) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      while (held.length > 0) {
        if (left === 0) {
          if (held.length < HEADER_BYTES) break;
          target = held[0] === STDERR ? stderr : stdout;
          left = held.readUInt32BE(4);
          held = held.subarray(HEADER_BYTES);
          continue;
        }
        const part = held.subarray(0, left);
        held = held.subarray(part.length);
        left -= part.length;
        if (!target.write(part)) await drained(target);
      }
    }
  } catch {
    // The engine went away; the container's end is seen elsewhere.
  }
}

function drained(stream: PassThrough): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}
