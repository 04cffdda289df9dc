// The platform's own Files app of an account, as tests call the routes that it alone may call.
import type { TestAccount } from '../../../tests/support/client.ts';
import type { Constellation } from '../../../tests/support/constellation.ts';
import type { CallSettings } from '../../../tests/support/installed-app.ts';
import { type RawAnswer, rawRequest } from '../../../tests/support/raw-http.ts';
import { openFrontend } from './apps.ts';

export async function fileCaller(
  world: Constellation,
  account: TestAccount,
): Promise<(path: string, settings?: CallSettings) => Promise<RawAnswer>> {
  const { origin, capability } = await openFrontend(world, account, 'files');
  return (path, { body, headers, method = body === undefined ? 'GET' : 'POST' } = {}) =>
    rawRequest({
      port: world.port,
      method,
      path,
      headers: {
        ...{ host: new URL(world.origin).host, origin, authorization: `Bearer ${capability}` },
        ...(body === undefined || Buffer.isBuffer(body) ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    });
}
