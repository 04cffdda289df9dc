// A node with a real Runtime, real Gateways and real sandboxes, in this process beside the core of a constellation.
import { randomBytes, randomUUID } from 'node:crypto';
import { agentWorker } from '@platform/agent-worker/program';
import { type Core, linkKeyOf } from '@platform/core';
import { startGateway } from '@platform/gateway';
import type { LinkKey } from '@platform/link';
import { type Runtime, startRuntime } from '@platform/runtime';
import { makePlace } from '../../packages/runtime/test-support/place.ts';
import type { Constellation } from './constellation.ts';
import { freePort } from './free-port.ts';

export interface RealNode {
  readonly runtime: Runtime;
  stop(): Promise<void>;
}

const quiet = () => undefined;

/**
 * Resolves when core knows it. With a key, core reaches it over the link, as it does the nodes of other machines; over iroh
 * where core takes connections over UDP.
 */
export async function startRealNode(
  { port, origin, core }: Pick<Constellation, 'port' | 'origin'> & { readonly core: Pick<Core, 'context'> },
  {
    credential,
    key,
    listenPort = 0,
  }: {
    readonly credential: string;
    readonly key?: LinkKey;
    /** Where clients reach backends. Default: a free one, which the origin of the node does not name. */
    readonly listenPort?: number;
  },
): Promise<RealNode> {
  const place = makePlace();
  const { masterKey, iroh } = core.context;
  const coreKey = linkKeyOf(masterKey).publicKey;
  const runtime = await startRuntime({
    dataDirectory: place.folder,
    coreOrigin: `http://127.0.0.1:${port}`,
    coreHost: new URL(origin).host,
    nodeCredential: credential,
    ...(key === undefined
      ? {}
      : {
          nodeKey: key,
          control: { host: '127.0.0.1', port: await freePort() },
          public: { host: '127.0.0.1', port: 0 },
          controllerKey: coreKey,
          ...(iroh === null
            ? {}
            : {
                iroh: { core: { host: '127.0.0.1', port: iroh.port, key: coreKey }, relay: null },
                behindIngresses: true,
              }),
        }),
    // Two nodes never have one origin.
    nodeOrigin: key === undefined ? core.context.config.nodeOrigin : `http://${randomUUID()}.platform.localhost:8788`,
    listenHost: '127.0.0.1',
    listenPort,
    clock: () => new Date(),
    random: randomBytes,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    startGateway,
    agentWorker,
  });
  await runtime.registered;
  return {
    runtime,
    async stop() {
      await runtime.stop();
      place.remove();
    },
  };
}
