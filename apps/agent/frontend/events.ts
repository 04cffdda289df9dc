// Reads the events of a session from the answer of the agent (server-sent events), however it was cut.
import type { AgentEvent } from '@platform/sdk/browser';

/** More of a message under way, which is not kept: text that stands from `offset` on. */
export interface Delta {
  readonly message: string;
  readonly turn: string;
  readonly offset: number;
  readonly text: string;
}

export type Heard = { readonly delta: Delta } | { readonly event: AgentEvent };

export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Heard> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const blocks = (rest + chunk.value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const heard = read(block);
        if (heard !== undefined) yield heard;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** @returns undefined for a comment, which only keeps the connection open */
function read(block: string): Heard | undefined {
  const [, name] = /^event: (.+)$/m.exec(block) ?? [];
  const [, json] = /^data: (.+)$/m.exec(block) ?? [];
  const [, id] = /^id: (\d+)$/m.exec(block) ?? [];
  if (name === undefined || json === undefined) return undefined;
  const data: unknown = JSON.parse(json);
  if (name === 'message.delta') return { delta: data as Delta };
  // The worker wrote it by its schema.
  return { event: { sequence: Number(id), at: new Date().toISOString(), event: name, data } as AgentEvent };
}
