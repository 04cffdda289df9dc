// The event stream of a session (server-sent events).
import type { IncomingMessage, ServerResponse } from 'node:http';
import { agents } from '@platform/contract/agents';
import type { Session } from '../sessions/session.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import { Refusal } from './refusal.ts';

const COMMENT_MILLISECONDS = 20_000;
/** An open stream keeps the agent awake; one in which nothing happens ends, so that the agent can sleep. */
const IDLE_MILLISECONDS = 120_000;
const COMMENT = ':\n\n';

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
      const more = follow(session, response, after ?? session.lines.length);
      const off = session.listen(() => {
        quietSince = Date.now();
        more();
        if (session.isRemoved) end();
      });
      const end = () => {
        off();
        response.end();
      };
      const beat = setInterval(() => {
        if (session.card.turn !== null) quietSince = Date.now();
        // Who does not read what was sent never sees its end.
        if (response.writableEnded) response.destroy();
        else if (Date.now() - quietSince > IDLE_MILLISECONDS) end();
        else if (!response.writableNeedDrain) response.write(COMMENT);
      }, COMMENT_MILLISECONDS);
      response.on('drain', () => {
        quietSince = Date.now();
        more();
      });
      // It closes as well.
      response.on('error', () => undefined);
      response.on('close', () => {
        clearInterval(beat);
        off();
        open.delete(response);
        use[Symbol.dispose]();
      });
      response.write(COMMENT);
      more();
    },
    close() {
      for (const response of open) response.end();
    },
  };
}

/**
 * Writes what is new in the session, as far as the client takes it: who reads slowly gets the same events later, and what it
 * has not read yet waits in the session alone.
 */
function follow(session: Session, response: ServerResponse, after: number): () => void {
  let next = Math.min(after, session.lines.length);
  let written = { message: '', length: 0 };
  const takes = () => !response.writableEnded && !response.destroyed && !response.writableNeedDrain;
  const write = (text: string) => void response.write(text);
  return () => {
    for (let line = session.lines[next]; line !== undefined && takes(); line = session.lines[next]) {
      const { sequence, event, data } = line;
      next += 1;
      write(`id: ${sequence}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    }
    const { partial } = session;
    if (partial === undefined || next < session.lines.length || !takes()) return;
    const offset = written.message === partial.message ? written.length : 0;
    if (offset === partial.text.length) return;
    written = { message: partial.message, length: partial.text.length };
    write(
      `event: message.delta\ndata: ${JSON.stringify({ ...partial, offset, text: partial.text.slice(offset) })}\n\n`,
    );
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
