// Frames of DATA with a few bytes each: one costs the thread of all clients some microseconds, whatever it contains, and the windows
// of HTTP/2 count bytes alone. Node reads on while frames come, so a client that sends too many of them loses its connection; those
// of all its connections count together.
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { clientNetwork } from '@platform/contract';
import { TokenBuckets } from '../token-buckets.ts';

/** A frame with more is worth its cost. */
const SMALL_BYTES = 256;
/** So many frames are counted as one. */
const LOT = 256;
/** Lots of one network: at once, and in each second. */
const BURST = 64;
const RATE = 16;

export interface SmallFrames {
  /** Counts those of a connection; its answer counts those of a stream, after `gatherPieces`. */
  of(session: ServerHttp2Session, address: string | undefined): (stream: ServerHttp2Stream) => void;
}

export function countSmallFrames(): SmallFrames {
  const lots = new TokenBuckets({ rate: RATE, burst: BURST, now: () => performance.now() });
  return {
    of(session, address = '') {
      const network = clientNetwork(address);
      let frames = 0;
      const add = (): void => {
        frames += 1;
        if (frames % LOT !== 0 || lots.take(network) === 0) return;
        session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
      };
      return (stream) => {
        const push = stream.push.bind(stream);
        stream.push = (chunk: Uint8Array | null) => {
          if (chunk !== null && chunk.length < SMALL_BYTES) add();
          return push(chunk);
        };
      };
    },
  };
}
