// An agent in a container: the platform brings its worker there too.
import { after, before, test } from 'node:test';
import { engineMissing, prepareEngine, type TestEngine } from '../../../packages/runtime/test-support/docker-engine.ts';
import { inOwnNetwork } from '../../support/own-network.ts';
import { type AgentPlatform, answersTwice, startAgentPlatform } from './agent-platform.ts';

inOwnNetwork(import.meta.url, { skip: engineMissing(), timeout: 10 * 60_000 }, () => {
  let engine: TestEngine;
  let world: AgentPlatform;

  before(async () => {
    engine = prepareEngine('ours');
    await engine.start();
    world = await startAgentPlatform({
      PLATFORM_RUNTIME_DRIVER: 'docker',
      PLATFORM_RUNTIME_DOCKER_SOCKET: engine.socketPath,
    });
  });
  after(async () => {
    try {
      await world?.close();
    } finally {
      await engine?.remove();
    }
  });

  test('an agent in a container answers, and remembers across its starts', () => answersTwice(world));
});
