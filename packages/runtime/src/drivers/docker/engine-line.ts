// The connections to the engine, which can be closed all at once. Stopping the platform may take only seconds, while a
// request to an engine that hangs never ends by itself.
import type { Agent, ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';

const http = process.getBuiltinModule('node:http');

export interface EngineLine {
  /** For the client: all of its requests go through here. */
  readonly agent: Agent;
  /** Aborted when the connection is cut or closed: pending requests have failed, and later ones fail. */
  readonly cut: AbortSignal;
  /** Has it cut when `ask` rejects, or does not settle, for `silence`, and after `limit` in any case. */
  leave(ask: () => Promise<unknown>): void;
  /** Milliseconds until the limit of `leave`. */
  timeLeft(): number;
  /** Closes the connection. */
  close(): void;
}

export interface EngineLineOptions {
  /**
   * Milliseconds. Default: 2,000. An engine at work answers in a few, and one that is started again is back in about
   * that.
   */
  readonly silence?: number;
  /** Milliseconds. Default: 7,000, after the grace of workloads (5 s) and before the end of the whole stop (9 s). */
  readonly limit?: number;
}

const ASK_EVERY_MS = 100;

export function openEngineLine({ silence = 2_000, limit = 7_000 }: EngineLineOptions = {}): EngineLine {
  const cutting = new AbortController();
  const agent = new CuttableAgent(cutting.signal);
  let end = Number.POSITIVE_INFINITY;

  function cut(): void {
    cutting.abort(new Error('The container engine does not answer.'));
    agent.destroy();
  }

  async function listen(ask: () => Promise<unknown>): Promise<void> {
    end = performance.now() + limit;
    setTimeout(cut, limit).unref();
    const silent = setTimeout(cut, silence).unref();
    while (!cutting.signal.aborted) {
      const answered = await ask().then(
        () => true,
        () => false,
      );
      if (answered) silent.refresh();
      await delay(ASK_EVERY_MS, undefined, { ref: false });
    }
  }

  return {
    agent,
    cut: cutting.signal,
    leave: (ask) => void listen(ask),
    timeLeft: () => Math.max(0, end - performance.now()),
    close: cut,
  };
}

class CuttableAgent extends http.Agent {
  readonly #cut: AbortSignal;

  constructor(cut: AbortSignal) {
    // Like the process's own agent: what is not used for 5 s is closed.
    super({ keepAlive: true, scheduling: 'lifo', timeout: 5_000 });
    this.#cut = cut;
  }

  /**
   * The client formats each request's options for debug output that is off, including every socket of their agent:
   * three fifths of the CPU time of a process that ran the conformance suite.
   */
  [inspect.custom](): string {
    return 'CuttableAgent';
  }

  override createConnection(
    options: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    const socket = super.createConnection(options, callback);
    if (this.#cut.aborted) socket?.destroy(this.#cut.reason);
    return socket;
  }
}
