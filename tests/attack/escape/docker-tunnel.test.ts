// No way leads out of a container whose workload has a network tunnel either: CAP_NET_ADMIN is over its own network.
import { after, before, describe } from 'node:test';
import { engineMissing, prepareEngine } from '../../../packages/runtime/test-support/docker-engine.ts';
import { escapeSuite } from './suite.ts';

const missing = engineMissing();

describe('the docker driver, with a tunnel', { skip: missing }, () => {
  if (missing !== false) return;
  const engine = prepareEngine();
  before(() => engine.start());
  after(() => engine.remove());

  escapeSuite({
    name: 'a container with a network tunnel',
    module: new URL('../../../packages/runtime/test-support/conformance/docker.ts', import.meta.url),
    options: { socketPath: engine.socketPath, networkNamespace: engine.networkNamespace },
    timeFactor: 3,
    network: { public: false, tunnel: true },
    can: { runtimeKilled: 'adopted', cpuTimeSeenInside: true, tunnels: true },
  });
});
