// The file of the package that a workload starts with, checked before anything is created for it.
import { closeSync, lstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import {
  checkExecutable,
  EXECUTABLE_HEAD_BYTES,
  type ExecutableCheck,
  processorNames,
  type WorkloadManifest,
} from '@platform/contract';
import { StartRefused } from './driver.ts';

/** What the sandbox runs, relative to the package's `workload/` folder. */
export interface Entry {
  readonly path: string;
  /** `node` runs a script, `binary` is a program itself. */
  readonly runtime: 'node' | 'binary';
}

/**
 * @param app the package's `workload/` folder on this machine
 * @throws StartRefused when this is a workload of another kind, or its file cannot be started here
 */
export function requireEntry(app: string, { runtime, entry }: WorkloadManifest): Entry {
  if (runtime === 'oci' || runtime === 'agent' || entry === undefined)
    throw new StartRefused('This machine runs backends of runtime "node" or "binary" only.');
  const file = join(app, entry);
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw new StartRefused(`The package has no file workload/${entry}, which its manifest names as entry.`);
  if (runtime === 'binary') requireExecutable(file, entry);
  return { path: entry, runtime };
}

/** Core checks all but the processor when the package is published, and prefers a machine with the right one. */
function requireExecutable(file: string, entry: string): void {
  const check = checkFile(file);
  if (!check.ok) throw new StartRefused(`workload/${entry} ${check.fault}.`);
  if (check.processor === process.arch) return;
  const here = Object.entries(processorNames).find(([name]) => name === process.arch)?.[1] ?? process.arch;
  throw new StartRefused(
    `workload/${entry} is compiled for ${processorNames[check.processor]}, and the processor of this machine is ${here}. Publish a version that is compiled for ${here}.`,
  );
}

function checkFile(file: string): ExecutableCheck {
  const descriptor = openSync(file, 'r');
  try {
    const head = Buffer.alloc(EXECUTABLE_HEAD_BYTES);
    return checkExecutable(head.subarray(0, readSync(descriptor, head, 0, head.length, 0)));
  } finally {
    closeSync(descriptor);
  }
}
