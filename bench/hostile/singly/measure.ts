// Each attack by itself against one running platform: what others see before it and meanwhile, and what memory it takes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { median } from '../../machine.ts';
import { attacks } from './attacks.ts';
import { type Look, look } from './look.ts';
import { printAttack, printHead } from './report.ts';
import { type Stage, setStage } from './stage.ts';

/** Until others are answered as before the attack: for queues to drain and answers that are held back to leave. */
const MOST_RECOVERY_SECONDS = 120;
const RECOVERY_LOOK_SECONDS = 2;
/** As before: medians of at most so many times the quiet ones, and some milliseconds. */
const RECOVERED_FACTOR = 2;
const RECOVERED_MILLISECONDS = 5;
const WARM_UP_SECONDS = 5;
/** An attack is under way when the look begins, and after it has ended. */
const MARGIN_SECONDS = 2;

/** @param part of the names of the attacks that are measured */
export async function measureSingly(seconds: number, part: string): Promise<void> {
  const stage = await setStage();
  try {
    process.stderr.write(`load of the machine before: ${loadavg().map((one) => one.toFixed(2))}\n`);
    // What only the start needs is given back, and what is compiled late is compiled.
    await look(stage, WARM_UP_SECONDS);
    printHead();
    for (const name of Object.keys(attacks).filter((one) => one.includes(part))) {
      const quiet = await look(stage, seconds);
      const attack = begin(stage, name, seconds);
      await pause(MARGIN_SECONDS / 2);
      const beside = await look(stage, seconds);
      const answers = await attack.end();
      printAttack({ name, quiet, beside, answers, recovery: await recover(stage, quiet) });
    }
  } finally {
    await stage.close();
  }
}

/** @returns how many seconds after the attack others are answered as before */
async function recover(stage: Stage, { times: before }: Look): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const seconds = (performance.now() - begun) / 1_000;
    const { times } = await look(stage, RECOVERY_LOOK_SECONDS);
    const isAsBefore = Object.entries(times).every(
      ([asked, now]) => median(now) <= RECOVERED_FACTOR * median(before[asked] ?? []) + RECOVERED_MILLISECONDS,
    );
    if (isAsBefore || seconds > MOST_RECOVERY_SECONDS) return seconds;
  }
}

function begin({ scene }: Stage, name: string, seconds: number) {
  const main = fileURLToPath(new URL('./attack-process.ts', import.meta.url));
  const given = JSON.stringify({ ...scene, seconds: seconds + MARGIN_SECONDS });
  const child = spawn(process.execPath, [main, name, given], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const said = text(child.stdout);
  return {
    /** @returns what it was answered */
    async end(): Promise<string> {
      child.stdin.end();
      await exited;
      return (await said).trim();
    },
  };
}

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, 1_000 * seconds));
