// Answers like the platform's routes of work leases; the test says what it refuses.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServiceAccess } from '../src/call-options.ts';

export const LEASE_ID = 'lease-01890000-0000-7000-8000-000000000001';

export class LeaseServer {
  /** `create`, `renew` and `release`, in their order. */
  readonly calls: string[] = [];
  /** Of renewals and releases. */
  status = 200;
  /** Of new leases. */
  createStatus = 200;
  readonly #server = createServer((request, response) => this.#answer(request, response));

  async listen(): Promise<ServiceAccess> {
    this.#server.listen(0, '127.0.0.1');
    await new Promise((resolve) => this.#server.once('listening', resolve));
    return { api: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`, token: 'pgw_test' };
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    const isCreate = request.url?.endsWith('/work-leases') === true;
    const what = isCreate ? 'create' : request.method === 'DELETE' ? 'release' : 'renew';
    this.calls.push(what);
    const status = isCreate ? this.createStatus : this.status;
    if (status < 400 && what === 'release') return void response.writeHead(204).end();
    const code = status === 404 ? 'not_found' : 'unavailable';
    // Each answer names another time, so that a test sees which one the handle has taken.
    const lease = { id: LEASE_ID, expiresAt: new Date(this.calls.length * 1_000).toISOString() };
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(status >= 400 ? { code, detail: 'No.', status } : { lease }));
  }
}
