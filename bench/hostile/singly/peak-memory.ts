// The most memory that a process has had at one time: the kernel keeps the peak, and begins it anew when told to
// (proc_pid_status(5), proc_pid_clear_refs(5)).
import { readFile, writeFile } from 'node:fs/promises';

export async function forgetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5');
}

/** In MiB, with the pages that it shares with others. */
export async function peakSince(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1_024;
}
