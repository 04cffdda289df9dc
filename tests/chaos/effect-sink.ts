// What activities have their effects in: it applies each idempotency key once and counts how often it was asked. The app
// asks it also whether to go on at a moment.
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AskedEffect {
  readonly runId: string;
  readonly step: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
}

export interface EffectSink {
  readonly origin: string;
  /** In the order of asking. */
  readonly asked: readonly AskedEffect[];
  /** By idempotency key, what the effect answered. */
  readonly receipts: ReadonlyMap<string, string>;
  close(): Promise<void>;
}

export interface EffectSinkOptions {
  /** Called before an effect. */
  readonly before?: (effect: AskedEffect) => Promise<void> | undefined;
  readonly at?: (moment: string) => Promise<void> | undefined;
}

export async function startEffectSink({ before, at }: EffectSinkOptions = {}): Promise<EffectSink> {
  const asked: AskedEffect[] = [];
  const receipts = new Map<string, string>();

  async function answer(path: string, body: unknown): Promise<unknown> {
    if (path === '/at') {
      await at?.((body as { moment: string }).moment);
      return {};
    }
    const effect = body as AskedEffect;
    await before?.(effect);
    asked.push(effect);
    const { idempotencyKey, step } = effect;
    // Another one each time it is applied, so that a second application would show.
    const receipt = receipts.get(idempotencyKey) ?? `${step} ${asked.length}`;
    receipts.set(idempotencyKey, receipt);
    return { receipt };
  }

  const server = http.createServer(async (request, response) => {
    try {
      let text = '';
      for await (const chunk of request) text += chunk;
      response.end(JSON.stringify(await answer(request.url ?? '', JSON.parse(text))));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    receipts,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
