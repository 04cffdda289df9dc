// `/control/…`: what core asks of this node. Served on the loopback interface only, apart from the endpoints.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { limits, type Refusal, RefusalError, refuse } from '@platform/contract';
import type { IncomingRequest } from '@platform/http';
import type { LogStore } from '../logs/log-store.ts';
import { bearerOf, sameCredential } from './bearer.ts';
import { logStart, streamLog } from './log-stream.ts';
import { carryPlatformCall, type PlatformCalls } from './platform-call.ts';
import { sendJson } from './send-json.ts';

export interface ControlParts extends PlatformCalls {
  readonly credential: string;
  /** Ends the workload and forgets everything but the volume. */
  forget(installationId: string): Promise<void>;
  /** Deletes the volume of an app that is not installed here any more. @throws RefusalError `workload_unavailable` */
  deleteVolume(installationId: string): Promise<void>;
  /** The volume as frames. @throws RefusalError before the answer has begun */
  sendVolume(installationId: string, res: ServerResponse): Promise<void>;
  /** Bytes that the volume holds, 0 where none was made; `null` where that cannot be told. */
  volumeUse(installationId: string): Promise<number | null>;
  readonly logs: LogStore;
  /** Aborted when the Runtime ends: streams end with it. */
  readonly ending: AbortSignal;
}

const TARGET =
  /^\/control\/installations\/(inst-[0-9a-f-]{36})(?:\/(start|stop|status|logs|logs\/stream|volume|volume\/content|volume\/use))?$/;
const CALL = /^\/control\/installations\/(inst-[0-9a-f-]{36})\/call(\/.*)$/;
const METHODS: Readonly<Record<string, string>> = {
  start: 'POST',
  stop: 'POST',
  status: 'GET',
  logs: 'GET',
  'logs/stream': 'GET',
  volume: 'DELETE',
  'volume/content': 'GET',
  'volume/use': 'GET',
  '': 'DELETE',
};

export async function handleControl(parts: ControlParts, incoming: IncomingRequest): Promise<void> {
  const { req, res } = incoming;
  const refusal = refusalOf(parts, req);
  if (refusal !== undefined) throw new RefusalError(refusal);
  const call = CALL.exec(incoming.path);
  if (call !== null) {
    const [, called = '', below = '/'] = call;
    return carryPlatformCall(parts, incoming, { installationId: called, path: `${below}${incoming.query}` });
  }
  const match = TARGET.exec(incoming.path);
  if (match === null) throw refuse('not_found');
  const [, installationId = '', action = ''] = match;
  const method = METHODS[action];
  if (method !== undefined && req.method !== method) throw refuse('method_not_allowed', undefined, { allow: [method] });
  req.resume();
  if (action === '') {
    await parts.forget(installationId);
    res.writeHead(204).end();
    return;
  }
  if (action === 'volume') {
    await parts.deleteVolume(installationId);
    res.writeHead(204).end();
    return;
  }
  if (action === 'volume/content') return parts.sendVolume(installationId, res);
  if (action === 'volume/use') return sendJson(res, { bytes: await parts.volumeUse(installationId) });
  if (action === 'logs') {
    const page = logPage(incoming.query);
    if (page === undefined) throw refuse('invalid_request', 'limit or before is not a number.');
    return sendJson(res, await parts.logs.read(installationId, page));
  }
  if (action === 'logs/stream') {
    const start = logStart(incoming.query);
    if (start === undefined) throw refuse('invalid_request', 'Give after or newest, a number.');
    return streamLog(parts.logs, { installationId, start }, res, parts.ending);
  }
  const installation = await parts.find(installationId);
  if (installation === undefined) throw refuse('not_found');
  if (action === 'start') await installation.start();
  if (action === 'stop') await installation.stop();
  sendJson(res, await installation.detail());
}

function refusalOf(parts: ControlParts, req: IncomingMessage): Refusal | undefined {
  // No page has business here, whatever it may have got hold of.
  if (req.headers.origin !== undefined) return { code: 'origin_not_allowed' };
  return sameCredential(bearerOf(req), parts.credential) ? undefined : { code: 'unauthenticated' };
}

function logPage(query: string): { limit: number; before?: string } | undefined {
  const parameters = new URLSearchParams(query);
  const limit = parameters.get('limit') ?? '200';
  const before = parameters.get('before');
  if (!/^[1-9]\d{0,4}$/.test(limit) || (before !== null && !/^\d{1,15}$/.test(before))) return undefined;
  return {
    limit: Math.min(Number(limit), limits.workloadLogLines.value),
    ...(before === null ? {} : { before }),
  };
}
