// What packages do wrong stays with them, on a node of containers. In a network namespace of its own, since the Runtime
// and dockerd share that of the machine.
import { after, before, describe, test } from 'node:test';
import { gatewaySidecar } from '../../../../../tests/support/gateway.ts';
import { badWorkloads } from '../../../test-support/conformance/bad-workloads.ts';
import { engineMissing, prepareEngine } from '../../../test-support/docker-engine.ts';
import { inInternet } from '../../../test-support/in-internet.ts';

const missing = engineMissing();

if (missing !== false) test('bad workloads in containers', { skip: missing }, () => undefined);
else {
  inInternet(import.meta.url, () => {
    describe('in containers', () => {
      const engine = prepareEngine('ours');
      before(() => engine.start());
      after(() => engine.remove());
      badWorkloads({
        name: 'containers',
        node: { driver: 'docker', dockerSocket: engine.socketPath, gatewaySidecar },
        timeFactor: 3,
        // The engine takes a container's control group away with it.
        processLimitIn: 'log',
      });
    });
  });
}
