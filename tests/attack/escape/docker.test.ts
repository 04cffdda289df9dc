// No way leads out of a container of the docker driver, on a dockerd that the test starts in a network of its own.
import { after, before, describe } from 'node:test';
import { engineMissing, prepareEngine } from '../../../packages/runtime/test-support/docker-engine.ts';
import { escapeSuite } from './suite.ts';

const missing = engineMissing();

describe('the docker driver', { skip: missing }, () => {
  if (missing !== false) return;
  const engine = prepareEngine();
  before(() => engine.start());
  after(() => engine.remove());

  escapeSuite({
    name: 'a container',
    module: new URL('../../../packages/runtime/test-support/conformance/docker.ts', import.meta.url),
    options: { socketPath: engine.socketPath, networkNamespace: engine.networkNamespace },
    timeFactor: 3,
    can: { runtimeKilled: 'adopted', cpuTimeSeenInside: true },
  });
});
