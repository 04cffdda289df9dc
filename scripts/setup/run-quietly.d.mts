// The types of run-quietly.mjs, which stays plain JavaScript for old Node versions.

import type { SpawnOptions } from 'node:child_process';

export interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly said: string;
  readonly missing: boolean;
}
export function runQuietly(program: string, args: readonly string[], options?: SpawnOptions): Promise<Outcome>;
