// How fast the body of a request has to arrive that is carried on.
import { limits } from '@platform/contract';

/** What a body has to keep, so that none stands for ever; time in which the upstream was the slower side does not count. */
export interface Arrival {
  /** Milliseconds for the whole of a body with a declared length of at most 64 KiB. */
  readonly shortMilliseconds: number;
  /** Bytes per second of any other, on average over `milliseconds`. */
  readonly bytesPerSecond: number;
  readonly milliseconds: number;
}

/** As clients have to take their answers. */
export const defaultArrival: Arrival = {
  shortMilliseconds: limits.bodySeconds.value * 1_000,
  bytesPerSecond: limits.answerRate.value,
  milliseconds: 300_000,
};
