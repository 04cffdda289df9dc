// The network of a container follows its owner's grants, on a dockerd in a network namespace whose internet no packet
// leaves; and afterwards neither the engine nor the packet filter knows of it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { networkPolicyBehaviour } from '../../../test-support/conformance/network-policy.ts';
import { engineMissing, prepareEngine } from '../../../test-support/docker-engine.ts';
import { inInternet, NAME_SERVER } from '../../../test-support/in-internet.ts';
import { openEngine } from './engine.ts';

const missing = engineMissing();

if (missing !== false) test('the network of containers', { skip: missing }, () => undefined);
else {
  inInternet(import.meta.url, () => {
    describe('the network of containers', () => {
      const engine = prepareEngine('ours');
      before(() => engine.start());
      after(() => engine.remove());

      networkPolicyBehaviour({
        name: 'docker',
        module: new URL('../../../test-support/conformance/docker.ts', import.meta.url),
        options: { socketPath: engine.socketPath, networkNamespace: engine.networkNamespace, dns: NAME_SERVER },
        timeFactor: 3,
        can: { runtimeKilled: 'adopted', cpuTimeSeenInside: true },
      });

      test('afterwards no network is left in the engine, and no table in the packet filter', async () => {
        const networks = await (await openEngine(engine.socketPath)).listNetworks();
        assert.deepEqual(
          networks.map(({ Name }) => Name).filter((name) => name.startsWith('platform')),
          [],
        );
        const tables = execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' });
        assert.doesNotMatch(tables, /platform_docker/);
      });
    });
  });
}
