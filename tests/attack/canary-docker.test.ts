// The keys of services with the docker driver, whose Gateways have containers of their own: what the engine knows of each
// container and keeps for it is searched too.
import assert from 'node:assert/strict';
import { processTree } from '../../bench/platform/process-memory.ts';
import { engineMissing, prepareEngine, type TestEngine } from '../../packages/runtime/test-support/docker-engine.ts';
import { type Engine, labels, openEngine } from '../../packages/runtime/test-support/internals.ts';
import { inOwnNetwork } from '../support/own-network.ts';
import { folderTexts } from '../support/sweep.ts';
import { keysOfServices } from './canary-suite.ts';

/** What containers have from their images. */
const IMAGES = /^data\/overlay2\/[^/]+\/(?:merged|diff\/(?:bin|etc|lib|lib64|opt|sbin|usr))(?:\/|$)/;

inOwnNetwork(import.meta.url, { skip: engineMissing(), timeout: 5 * 60_000 }, () => {
  let engine: TestEngine;
  let docker: Engine;

  /** What the engine says of each running container of the platform, of one role or all. */
  async function containers(role?: string): Promise<{ readonly pid: number; readonly said: string }[]> {
    const label = role === undefined ? labels.owner : `${labels.role}=${role}`;
    const found = await docker.listContainers({ filters: { label: [label] } });
    const said = await Promise.all(found.map(({ Id }) => docker.getContainer(Id).inspect()));
    return said.map((one) => ({ pid: one.State.Pid, said: JSON.stringify(one) }));
  }
  const below = (all: readonly { readonly pid: number }[]) => all.flatMap(({ pid }) => processTree(pid));

  keysOfServices({
    async open() {
      engine = prepareEngine('ours');
      await engine.start();
      docker = await openEngine(engine.socketPath);
      return { PLATFORM_RUNTIME_DRIVER: 'docker', PLATFORM_RUNTIME_DOCKER_SOCKET: engine.socketPath };
    },
    processes: async ({ pid }) => [...processTree(pid), ...below(await containers())],
    workloads: async () => below(await containers('workload')),
    async texts() {
      const all = await containers();
      assert.ok(all.length >= 4, 'two workloads with their Gateways');
      return {
        ...Object.fromEntries(all.map(({ pid, said }) => [`the container of process ${pid}`, said])),
        ...folderTexts(engine.folder, IMAGES),
      };
    },
    close: () => engine.remove(),
  });
});
