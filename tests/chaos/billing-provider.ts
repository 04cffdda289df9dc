// A FAKE AI provider that keeps its own bill of each call, told apart by their models. It does what the body says: so many
// tokens, so fast, streamed or not.
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { startTlsUpstream, type TlsUpstream } from '../support/tls-upstream.ts';

export interface Bill {
  /** How often it arrived. */
  seen: number;
  /** Of an answer that was sent to its end; `null` until then. */
  tokens: { readonly input: number; readonly output: number } | null;
  /** Of text that was sent. */
  bytes: number;
}

export interface Wanted {
  readonly model: string;
  readonly stream: boolean;
  readonly max_tokens?: number;
  readonly metadata: { readonly tokens: number; readonly pause: number };
  readonly messages: readonly object[];
}

/** Less than any body is estimated at. */
const INPUT_TOKENS = 11;
/** A token each; more bytes than a token is estimated at. */
const WORD = 'wordy ';

export interface BillingProvider {
  readonly origin: string;
  readonly caFile: string;
  readonly bills: ReadonlyMap<string, Bill>;
  close(): Promise<void>;
}

export async function startBillingProvider(): Promise<BillingProvider> {
  const upstream: TlsUpstream = await startTlsUpstream();
  const bills = new Map<string, Bill>();
  upstream.answer = (_req, res, { body }) => {
    const asked = JSON.parse(body) as Wanted & { readonly max_completion_tokens?: number };
    const bill = bills.get(asked.model) ?? { seen: 0, tokens: null, bytes: 0 };
    bills.set(asked.model, bill);
    bill.seen += 1;
    const most = asked.max_tokens ?? asked.max_completion_tokens ?? Number.POSITIVE_INFINITY;
    const output = Math.min(asked.metadata.tokens, most);
    (asked.stream ? streamed : whole)(res, { output, pause: asked.metadata.pause, bill }).catch(() => res.destroy());
  };
  const usageOf = (output: number) => ({
    prompt_tokens: INPUT_TOKENS,
    completion_tokens: output,
    total_tokens: INPUT_TOKENS + output,
  });

  async function whole(res: ServerResponse, { output, pause, bill }: Sending): Promise<void> {
    await delay(pause * output);
    if (res.destroyed) return;
    bill.bytes = WORD.length * output;
    bill.tokens = { input: INPUT_TOKENS, output };
    const message = { role: 'assistant', content: WORD.repeat(output) };
    const answer = { choices: [{ index: 0, message, finish_reason: 'stop' }], usage: usageOf(output) };
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  async function streamed(res: ServerResponse, { output, pause, bill }: Sending): Promise<void> {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (event: object) => res.write(`data: ${JSON.stringify(event)}\n\n`);
    for (let count = 0; count < output; count += 1) {
      await delay(pause);
      if (res.destroyed) return;
      bill.bytes += WORD.length;
      send({ choices: [{ index: 0, delta: { content: WORD }, finish_reason: null }], usage: null });
    }
    bill.tokens = { input: INPUT_TOKENS, output };
    send({ choices: [], usage: usageOf(output) });
    res.end('data: [DONE]\n\n');
  }

  return { origin: upstream.origin, caFile: upstream.caFile, bills, close: () => upstream.close() };
}

interface Sending {
  readonly output: number;
  /** Milliseconds before each token. */
  readonly pause: number;
  readonly bill: Bill;
}
