// `platform doctor` beside a running platform: it finds the Ingress by its key, and walks the public path on this machine.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';

const CLI = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url));

let place: PlatformPlace;
let platform: PlatformProcess;
before(async () => {
  place = await platformPlace({
    PLATFORM_RUNTIME_DRIVER: 'process',
    PLATFORM_INGRESS_LISTEN: `127.0.0.1:${await freePort()}`,
  });
  platform = await startPlatform(place);
});
after(async () => {
  await platform?.stop();
  await place?.remove();
});

function doctor(more: NodeJS.ProcessEnv = {}) {
  return spawnSync(process.execPath, [CLI, 'doctor'], { env: { ...place.environment, ...more }, encoding: 'utf8' });
}

test('on a laptop the doctor follows a public request through the Ingress, and says who reaches it', () => {
  const { stdout, status } = doctor();
  assert.match(stdout, /✓ Ingress +answers at 127\.0\.0\.1:/);
  assert.match(stdout, /✓ public name .*fine on this machine only/);
  for (const check of ['public host', 'client', 'buffering', 'WebSocket'])
    assert.match(stdout, new RegExp(`✓ ${check}`), stdout);
  assert.equal(status, 0, stdout);
});

test('with a domain that nobody knows, the doctor names the record to add', () => {
  // A name that no name server may know (RFC 6761).
  const { stdout, status } = doctor({ PLATFORM_INGRESS_DOMAIN: 'apps.platform.invalid' });
  assert.match(stdout, /✗ public name +names below apps\.platform\.invalid do not resolve/);
  assert.match(stdout, /→ Add a wildcard DNS record \*\.apps\.platform\.invalid/);
  assert.equal(status, 1, stdout);
});
