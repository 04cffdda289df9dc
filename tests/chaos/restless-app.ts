// A process of order-app.ts that is killed now and then and goes on with what it had begun.
import { fileURLToPath } from 'node:url';
import { type Child, startChild } from '../support/child.ts';
import type { Ended } from './workflow-moments.ts';

const APP = fileURLToPath(new URL('./order-app.ts', import.meta.url));

export class RestlessApp {
  readonly #environment: NodeJS.ProcessEnv;
  readonly #onEnd: (ended: Ended) => void;
  readonly #open = new Set<string>();
  #child: Child;
  kills = 0;

  /** @param onEnd may order the next */
  constructor(environment: NodeJS.ProcessEnv, onEnd: (ended: Ended) => void) {
    this.#environment = environment;
    this.#onEnd = onEnd;
    this.#child = this.#start();
  }

  #start(): Child {
    const onLine = (line: string) => {
      const ended = JSON.parse(line) as Ended;
      this.#open.delete(ended.key);
      this.#onEnd(ended);
    };
    return startChild(APP, { environment: this.#environment, onLine });
  }

  /** Keys that it has begun and not ended. */
  get open(): readonly string[] {
    return [...this.#open];
  }

  order(key: string): void {
    this.#open.add(key);
    this.#child.send(key);
  }

  /** Kills it with SIGKILL and starts it again. */
  async restart(): Promise<void> {
    this.kills += 1;
    await this.#child.kill();
    this.#child = this.#start();
    for (const key of this.#open) this.#child.send(key);
  }

  close(): Promise<void> {
    return this.#child.kill();
  }
}
