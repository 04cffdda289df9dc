// Loaded into the process of every test file (--import): what the file took, written when it ends. Of its children's
// processor time, the kernel counts what it waited for; servers that outlive it or that it shares are not in it.
import { appendFileSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** The file that the lines go to. Test files fork, so the variable is taken out of the environment. */
export const USAGE_FILE = 'PLATFORM_TEST_USAGE_FILE';

export interface Usage {
  readonly file: string;
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
}

/** Of USER_HZ, which is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
const target = process.env[USAGE_FILE];

if (isMainThread && target !== undefined) {
  delete process.env[USAGE_FILE];
  process.on('exit', () => {
    const usage: Usage = {
      file: process.argv[1] ?? '',
      wallSeconds: performance.now() / 1000,
      cpuSeconds: cpuSeconds(),
    };
    // One write, so that files that end at once do not mix their lines.
    appendFileSync(target, `${JSON.stringify(usage)}\n`);
  });
}

/** Of this process and of its children that have ended: utime, stime, cutime and cstime of proc_pid_stat(5). */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1e6;
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return own + (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
  } catch {
    // Not Linux.
    return own;
  }
}
