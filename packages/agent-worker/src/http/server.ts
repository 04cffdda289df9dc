// Answers the frontend of the app. Nobody else reaches this port: the Gateway lets in whom the platform has let in.
import http from 'node:http';
import { isStorageFull } from '../sessions/storage-full.ts';
import { problemOf, Refusal } from './refusal.ts';
import type { Answer, Call, Routes } from './route.ts';

export function createAgentServer(routes: Routes): http.Server {
  return http.createServer((request, response) => {
    answerOf(routes, request, response)
      .catch(refused)
      .then((answer) => {
        if (answer !== undefined) send(response, answer);
        // What is left of a body that was refused.
        request.resume();
      })
      .catch(() => response.destroy());
  });
}

async function answerOf(
  routes: Routes,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<Answer | undefined> {
  if (!URL.canParse(request.url ?? '', 'http://agent')) throw new Refusal('not_found');
  const url = new URL(request.url ?? '', 'http://agent');
  for (const { path, methods } of routes) {
    const found = path.exec(url.pathname);
    if (found === null) continue;
    const route = methods[request.method ?? ''];
    if (route === undefined) throw new Refusal('method_not_allowed', undefined, { allow: Object.keys(methods) });
    const call: Call = { request, response, url, id: found.groups?.id ?? '' };
    return route(call);
  }
  throw new Refusal('not_found', 'The agent has no such route.');
}

function refused(error: unknown): Answer & { readonly allow?: readonly string[] } {
  if (isStorageFull(error)) return refused(new Refusal('agent_storage_full'));
  if (!(error instanceof Refusal)) {
    process.stderr.write(`A request failed: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
    return refused(new Refusal('internal_error'));
  }
  const body = problemOf(error);
  return { status: body.status, body, ...(error.allow.length === 0 ? {} : { allow: error.allow }) };
}

function send(
  response: http.ServerResponse,
  { status, body, allow }: Answer & { readonly allow?: readonly string[] },
): void {
  if (response.headersSent) return void response.destroy();
  const isProblem = status >= 400;
  response.writeHead(status, {
    ...(body === undefined ? {} : { 'content-type': isProblem ? 'application/problem+json' : 'application/json' }),
    ...(allow === undefined ? {} : { allow: allow.join(', ') }),
    'cache-control': 'no-store',
  });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
