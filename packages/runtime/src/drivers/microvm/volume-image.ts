// A machine's volume: a sparse ext4 image. The host creates it and never mounts it: only the guest's kernel parses what
// a workload wrote into it.
import { execFile } from 'node:child_process';
import { chownSync, existsSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Below this there is no room for a file system with a journal. */
const SMALLEST_MIB = 16;

/** Makes the image at the first question; later ones find it as it was left, of the size it was made with. */
export async function volumeImage(
  path: string,
  { makeExt4, sizeMiB, uid }: { readonly makeExt4: string; readonly sizeMiB: number; readonly uid: number },
): Promise<string> {
  if (existsSync(path)) return path;
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, '', { mode: 0o600 });
  truncateSync(temporary, Math.max(SMALLEST_MIB, sizeMiB) * 1024 * 1024);
  const features = ['-q', '-F', '-m', '0', '-E', 'root_owner=1000:1000,lazy_itable_init=1,lazy_journal_init=1'];
  await run(makeExt4, [...features, temporary], { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } });
  chownSync(temporary, uid, uid);
  renameSync(temporary, path);
  return path;
}
