// The stop of everything an account runs (specification 5.4, `runtime.pause`), and its end.
import * as z from 'zod';
import { timestamp } from './primitives.ts';

export const accountRuntime = z.strictObject({
  /** Since when nothing of the account runs; `null` while it is not paused. */
  pausedAt: timestamp.nullable(),
});
export type AccountRuntime = z.infer<typeof accountRuntime>;
