// Calls at a steady rate, whatever their answers take, and the arrival of what they sent.
import { setTimeout as delay } from 'node:timers/promises';

export interface Rate {
  readonly perSecond: number;
  readonly seconds: number;
}

const ARRIVAL_MS = 30_000;

/** Resolves when all are answered. @param call gets the number of the call, from 0 */
export async function steadily({ perSecond, seconds }: Rate, call: (index: number) => Promise<void>): Promise<void> {
  const total = perSecond * seconds;
  const started = performance.now();
  const answers: Promise<void>[] = [];
  while (answers.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - started) / 1_000) * perSecond));
    while (answers.length < due) answers.push(call(answers.length));
    await delay(1);
  }
  await Promise.all(answers);
}

/** Waits for what was sent. @throws Error for less, and for more */
export async function allArrived(arrived: readonly unknown[], total: number, what: string): Promise<void> {
  const deadline = performance.now() + ARRIVAL_MS;
  while (arrived.length < total && performance.now() < deadline) await delay(10);
  if (arrived.length !== total) throw new Error(`${arrived.length} of ${total} ${what} arrived`);
}
