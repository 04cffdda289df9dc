// `platform doctor` beside an Ingress that orders certificates from a real ACME server: an order that failed is named with its
// reason, what to do, and when the next follows, and one that was signed is in service.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { connect } from 'node:tls';
import { walkPublicPath } from '../../packages/cli/test-support/internals.ts';
import {
  HOSTNAME,
  key,
  startUnderTest,
  type UnderTest,
} from '../../packages/ingress/test-support/ingress-under-test.ts';
import { lacksPebble, type Pebble, startPebble } from '../support/pebble.ts';
import { until } from '../support/wait.ts';

const DOMAIN = 'public.platform.localhost';
let pebble: Pebble;

before(async () => {
  if (lacksPebble === null) pebble = await startPebble();
});
after(() => pebble?.close());

interface Settings {
  /** Lines of a shell for the DNS hook; `null` for one certificate for each name. */
  readonly hook: string | null;
  /** Whether the authority finds the plain port. */
  readonly isReached?: boolean;
}

async function started(t: TestContext, { hook, isReached = false }: Settings): Promise<UnderTest> {
  const folder = await mkdtemp(path.join(tmpdir(), 'doctor-acme-'));
  t.after(() => rm(folder, { recursive: true }));
  const dnsHook = hook === null ? null : path.join(folder, 'hook');
  if (dnsHook !== null) await writeFile(dnsHook, `#!/bin/sh\n${hook}\n`, { mode: 0o700 });
  const under = await startUnderTest({
    tls: {
      domain: DOMAIN,
      certificates: {
        ...{ kind: 'acme', directory: pebble.directory, email: '', ca: pebble.ca },
        ...{ dnsHook, folder: path.join(folder, 'acme') },
      },
      plain: { host: '127.0.0.1', port: isReached ? pebble.httpPort : 0 },
    },
  });
  t.after(() => under.close());
  return under;
}

async function findings({ port }: UnderTest, tls: 'acme wildcard' | 'acme for each') {
  const walked = await walkPublicPath(
    { domain: DOMAIN, scheme: 'https', port, ingress: { host: '127.0.0.1', port, tls, key } },
    { lookup: () => assert.fail('a name was looked up'), now: new Date() },
  );
  assert.deepEqual(
    walked.filter(({ check, verdict }) => check !== 'certificates' && verdict !== 'good'),
    [],
    'the rest of the way is looked at as well',
  );
  return walked.filter(({ check }) => check === 'certificates');
}

/** A client's handshake for the name of an app. */
async function visit({ port }: UnderTest): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, servername: HOSTNAME, ca: await pebble.root() });
  try {
    await once(socket, 'secureConnect');
  } finally {
    socket.end();
  }
}

const NEXT = /The next try is at \d{4}-\d\d-\d\dT\d\d:\d\dZ$/;

test('a name that the authority cannot check is named, with the port that it needs', async (t) => {
  if (lacksPebble !== null) return t.skip(lacksPebble);
  const under = await started(t, { hook: null });
  const [none, ...more] = await findings(under, 'acme for each');
  assert.deepEqual([none?.verdict, none?.found], ['good', 'none yet: each app gets its own at its first request']);
  assert.deepEqual(more, []);
  await assert.rejects(visit(under));
  const [, failed] = await findings(under, 'acme for each');
  assert.equal(failed?.verdict, 'bad');
  assert.ok(failed.found.startsWith(`${HOSTNAME}: the authority could not check ${HOSTNAME}: `), failed.found);
  assert.match(failed.found, /Clients get no valid one\. /);
  assert.match(failed.found, NEXT);
  assert.match(failed.cure ?? '', /^Let port 80 of that name lead to PLATFORM_INGRESS_HTTP_LISTEN here/);
});

test('a certificate that was ordered is in service', async (t) => {
  if (lacksPebble !== null) return t.skip(lacksPebble);
  const under = await started(t, { hook: null, isReached: true });
  await visit(under);
  const [served, ...more] = await findings(under, 'acme for each');
  assert.equal(served?.verdict, 'good');
  assert.ok(served.found.startsWith(`one is in service; ${HOSTNAME} is valid until `), served.found);
  assert.deepEqual(more, []);
});

test('a DNS hook that fails is named, with what to run by hand', async (t) => {
  if (lacksPebble !== null) return t.skip(lacksPebble);
  const under = await started(t, { hook: 'exit 9' });
  const [none, failed] = await until('the order to fail', async () => {
    const found = await findings(under, 'acme wildcard');
    return found.length === 2 ? found : undefined;
  });
  assert.deepEqual([none?.verdict, none?.cure], ['bad', 'The next lines say why.']);
  assert.equal(failed?.verdict, 'bad');
  assert.match(
    failed.found,
    /^\*\.public\.platform\.localhost: the DNS hook failed to add the record \S+: exit code 9\. /,
  );
  assert.match(failed.found, NEXT);
  assert.match(failed.cure ?? '', /^Run PLATFORM_ACME_DNS_HOOK by hand/);
});
