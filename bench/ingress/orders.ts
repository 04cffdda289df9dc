// A program of the bench that does something at each line it is sent, and answers with a line.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Ordered<Answer> extends AsyncDisposable {
  order(): Promise<Answer>;
}

/** Resolves at its first line. */
export async function startProgramWithOrders<Answer>(
  script: URL,
  core: number,
  args: readonly string[],
): Promise<Ordered<Answer>> {
  const child = spawn('taskset', ['-c', String(core), process.execPath, fileURLToPath(script), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  async function next(): Promise<string> {
    const line = await lines.next();
    if (line.done === true) throw new Error('A program of the bench ended early.');
    return line.value;
  }
  await next();
  return {
    async order() {
      child.stdin.write('\n');
      const answer: Answer = JSON.parse(await next());
      return answer;
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}
