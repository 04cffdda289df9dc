// The event stream of a session (server-sent events).
import type { IncomingMessage, ServerResponse } from 'node:http';
import { agents } from '@platform/contract/agents';
import type { SessionStore } from '../sessions/session-store.ts';
import { Refusal } from './refusal.ts';

const COMMENT_MILLISECONDS = 20_000;
/** An open stream keeps the agent awake; one in which nothing happens ends, so that the agent can sleep. */
const IDLE_MILLISECONDS = 120_000;
const MOST_UNREAD_BYTES = 4 * 1024 * 1024;

export interface Streams {
  open(id: string, request: IncomingMessage, response: ServerResponse, url: URL): void;
  close(): void;
}

export function createStreams(store: SessionStore): Streams {
  const open = new Set<ServerResponse>();
  return {
    open(id, request, response, url) {
      const after = resumedAfter(request, url);
      if (open.size >= agents.limits.agentStreams.value)
        throw new Refusal('concurrency_limited', 'Too many streams of this agent are open. Close one first.');
      const use = store.open(id);
      const { session } = use;
      open.add(response);
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      let quietSince = Date.now();
      const send = (text: string) => {
        // Who does not read resumes later.
        if (response.writableLength > MOST_UNREAD_BYTES) response.destroy();
        else response.write(text);
      };
      const beat = setInterval(() => {
        if (session.card.turn !== null) quietSince = Date.now();
        if (Date.now() - quietSince > IDLE_MILLISECONDS) response.end();
        else send(':\n\n');
      }, COMMENT_MILLISECONDS);
      send(':\n\n');
      const last = () => session.lines.length;
      const off = session.listen(after ?? last(), {
        line({ sequence, event, data }) {
          quietSince = Date.now();
          send(`id: ${sequence}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
        },
        delta: (delta) => send(`event: message.delta\ndata: ${JSON.stringify(delta)}\n\n`),
      });
      response.on('close', () => {
        clearInterval(beat);
        off();
        open.delete(response);
        use[Symbol.dispose]();
      });
    },
    close() {
      for (const response of open) response.end();
    },
  };
}

/** `Last-Event-ID`, or `after` of a first request. Undefined: from now on. */
function resumedAfter({ headers }: IncomingMessage, url: URL): number | undefined {
  const given = headers['last-event-id'] ?? url.searchParams.get('after') ?? undefined;
  if (given === undefined || given === '') return undefined;
  if (!/^\d{1,9}$/.test(String(given)))
    throw new Refusal('invalid_request', 'Last-Event-ID must be the id of an event of this session.');
  return Number(given);
}
