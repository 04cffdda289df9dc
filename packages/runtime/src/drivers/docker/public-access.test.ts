// network.public for containers: live, to publicly routable addresses only, and frozen when it is revoked. On a dockerd in
// a network namespace whose internet no packet leaves.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { workloadManifest } from '@platform/contract';
import { gatewaySidecar } from '@platform/gateway/sidecar';
import { engineMissing, prepareEngine } from '../../testing/docker-engine.ts';
import { FORBIDDEN, inInternet, NAME_SERVER, OWN, PUBLIC, visitors } from '../../testing/in-internet.ts';
import { makePlace, type Place } from '../../testing/place.ts';
import { TEST_UID } from '../../testing/sandboxes.ts';
import { until } from '../../testing/wait.ts';
import { portOf } from '../conformance/bench.ts';
import type { Driver, WorkloadInstance } from '../driver.ts';
import { openDockerDriver } from './docker-driver.ts';
import { openEngine } from './engine.ts';

const shut = { public: false, tunnel: false };
const open = { public: true, tunnel: false };
const settings = {
  installationId: 'traveller',
  appOrigin: 'http://app.test',
  coreOrigin: 'http://127.0.0.1:1',
  coreHost: 'core.test',
  gatewayCredential: 'pgw_test',
  coreServiceCredential: 'pcs_test',
  onActivity: () => undefined,
  log: () => undefined,
};
/** Some engines give internal networks a default route, which leads to our refusal. */
const NO_WAY = /^E(NET|HOST)UNREACH$/;
const missing = engineMissing();

if (missing !== false) test('network.public for containers', { skip: missing }, () => undefined);
else {
  inInternet(import.meta.url, () => {
    describe('network.public for containers', () => {
      const engine = prepareEngine('ours');
      let place: Place;
      let driver: Driver;
      let instance: WorkloadInstance;
      const door = http.createServer((req, res) => instance.gateway.forwardInbound(req, res, req.url ?? '/'));
      let origin: string;

      before(async () => {
        place = makePlace();
        await engine.start();
        const say = (fields: object, message: string) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
        driver = await openDockerDriver({
          dataDirectory: place.folder,
          sidecar: gatewaySidecar,
          log: { debug: () => undefined, info: () => undefined, warn: say, error: say },
          socketPath: engine.socketPath,
          dns: [NAME_SERVER],
        });
        assert.deepEqual(driver.report.reasons, []);
        instance = await driver.start({
          installationId: 'traveller',
          manifest: workloadManifest.parse({ runtime: 'node', entry: 'index.mjs' }),
          app: place.workload('traveller'),
          uid: TEST_UID,
          network: shut,
          fingerprint: '',
          environment: ({ port }) => ({ PORT: String(port) }),
          openGateway: () => Promise.reject(new Error('no Gateway here')),
          gatewaySettings: async () => settings,
          gatewayHooks: settings,
          abort: new AbortController().signal,
        });
        instance.stdout.resume();
        instance.stderr.resume();
        assert.ok(await instance.listening(AbortSignal.timeout(60_000)));
        door.listen(0, '127.0.0.1');
        await once(door, 'listening');
        origin = `http://127.0.0.1:${portOf(door)}`;
      });
      after(async () => {
        door.close();
        door.closeAllConnections();
        await instance?.stop(0);
        await instance?.gateway.close();
        await driver?.close();
        assert.equal(/platform_docker/.test(nft('list', 'tables')), false, 'the packet filter is as it was');
        await engine.remove();
        place.remove();
      });

      const nft = (...words: string[]) => execFileSync('nft', words, { encoding: 'utf8' });
      const ask = async <Answer = string>(path: string): Promise<Answer> =>
        // Written by our own workload.
        (await (await fetch(`${origin}${path}`)).json()) as Answer;

      test('without the grant nothing is there', async () => {
        for (const address of [PUBLIC, NAME_SERVER, OWN, ...FORBIDDEN])
          assert.match(await ask(`/tcp/${address}/7000`), NO_WAY, address);
        assert.notEqual(await ask('/dns/example.org'), PUBLIC);
      });

      test('with it the container reaches publicly routable addresses and names, and no other', async () => {
        await instance.applyNetworkPolicy(open);
        assert.deepEqual(instance.shortfalls(), []);
        assert.equal(await ask(`/tcp/${PUBLIC}/7000`), `${PUBLIC} sees ${OWN}`);
        assert.equal(await ask(`/udp/${PUBLIC}/7000`), 'answered ping');
        assert.equal(await ask('/dns/example.org'), PUBLIC);
        for (const address of [OWN, ...FORBIDDEN])
          assert.equal(await ask(`/tcp/${address}/7000`), 'ECONNREFUSED', address);
        const came = await visitors();
        assert.deepEqual(
          FORBIDDEN.filter((address) => came[address] !== undefined),
          [],
        );
      });

      test('revoking freezes open connections at once, and a new grant opens new ones', async () => {
        assert.equal(await ask(`/hold/${PUBLIC}/7000`), 'held');
        const begun = await ask<{ answers: number }>('/held');
        await until('the connection to be busy', async () => {
          return (await ask<{ answers: number }>('/held')).answers > begun.answers + 10;
        });
        await instance.applyNetworkPolicy(shut);
        const frozen = await ask<{ answers: number }>('/held');
        assert.match(await ask(`/tcp/${PUBLIC}/7000`), NO_WAY);
        assert.equal((await ask<{ answers: number }>('/held')).answers, frozen.answers);
        assert.notEqual(await ask('/dns/example.org'), PUBLIC);
        const networks = await (await openEngine(engine.socketPath)).listNetworks();
        assert.deepEqual(
          networks.filter(({ Name }) => Name.endsWith('-public')),
          [],
        );
        await instance.applyNetworkPolicy(open);
        assert.equal(await ask(`/tcp/${PUBLIC}/7000`), `${PUBLIC} sees ${OWN}`);
        await instance.applyNetworkPolicy(shut);
      });
    });
  });
}
