// Answers of the control side in JSON.
import type { ServerResponse } from 'node:http';
import { endResponse } from '@platform/http';

export function sendJson(res: ServerResponse, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  res.writeHead(200, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'content-length': body.length,
  });
  endResponse(res, body);
}
