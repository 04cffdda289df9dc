// On https every answer says so, whichever host and part of core gives it; on plain http none does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startConstellation } from '../../../../../tests/support/constellation.ts';
import { rawRequest } from '../../../../../tests/support/raw-http.ts';

const shell = 'shell.example.test';
const app = `notes--${'a'.repeat(21)}.apps.${shell}`;

interface Asked {
  readonly what: string;
  readonly host: string;
  readonly path: string;
  readonly status: number;
  readonly method?: string;
  /** Host of the page that asks. */
  readonly from?: string;
}

const asked: readonly Asked[] = [
  { what: 'the page of the shell', host: shell, path: '/', status: 200 },
  { what: 'a refusal of the API', host: shell, path: '/v1/auth/session', status: 401 },
  { what: 'a preflight', host: shell, path: '/v1/frontend/exchange', method: 'OPTIONS', from: app, status: 204 },
  { what: 'the host of an app', host: app, path: '/', status: 404 },
  { what: 'a path that is refused before it is looked at', host: shell, path: '/a%2fb', status: 400 },
  { what: 'a method that is refused before anything', host: shell, path: '/', method: 'TRACE', status: 405 },
  { what: 'a host that is not ours', host: 'elsewhere.example.test', path: '/', status: 421 },
];

async function answersOn(scheme: 'http' | 'https'): Promise<(string | undefined)[]> {
  const config = { origin: `${scheme}://${shell}`, rpId: shell, appsDomain: `apps.${shell}` };
  const core = await startConstellation({ config });
  try {
    const said: (string | undefined)[] = [];
    for (const { what, host, path, status, method = 'GET', from } of asked) {
      const headers = { host, ...(from === undefined ? {} : { origin: `${scheme}://${from}` }) };
      const answer = await rawRequest({ port: core.port, path, method, headers });
      assert.equal(answer.status, status, what);
      said.push(answer.headers['strict-transport-security']);
    }
    return said;
  } finally {
    await core.close();
  }
}

test('on https every answer asks for TLS for a year', async () => {
  assert.deepEqual(
    await answersOn('https'),
    asked.map(() => 'max-age=31536000'),
  );
});

test('on plain http no answer speaks of TLS', async () => {
  assert.deepEqual(
    await answersOn('http'),
    asked.map(() => undefined),
  );
});
