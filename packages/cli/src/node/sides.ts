// Where core and Ingresses reach a joined node: at addresses of its own over TLS, or over iroh.
import type { PlatformConfig } from '@platform/core/config';
import { StartError } from '@platform/core/start';
import type { RuntimeOptions } from '@platform/runtime';
import { requireFreePort } from '../process/running.ts';

const CONTROL_PORT = 8_790;
const PUBLIC_PORT = 8_792;

export interface NodeSides {
  readonly over: Pick<RuntimeOptions, 'control' | 'public' | 'iroh' | 'behindIngresses'>;
  /** For the operator. */
  readonly shown: string;
}

interface Joined {
  readonly coreUrl: string;
  /** What core proves at `coreUrl`; `null` where that is not its own port for nodes. */
  readonly coreKey: Buffer | null;
  /** What core proves where it reaches this node. */
  readonly controllerKey: Buffer | null;
  /** Of this machine, as core saw it. */
  readonly address: string;
}

type Settings = Pick<PlatformConfig, 'linkCarrier' | 'irohRelay' | 'nodeControl' | 'nodePublic' | 'effective'>;

/** @throws StartError when a port is taken, or core cannot be found over iroh */
export async function nodeSides(config: Settings, member: Joined): Promise<NodeSides> {
  if (config.linkCarrier === 'iroh') return overIroh(config, member);
  const control = config.nodeControl ?? { host: member.address, port: CONTROL_PORT };
  const publicSide = config.nodePublic ?? { host: control.host, port: PUBLIC_PORT };
  await requireFreePort('PLATFORM_NODE_CONTROL', control.host, control.port);
  await requireFreePort('PLATFORM_NODE_PUBLIC', publicSide.host, publicSide.port);
  return { over: { control, public: publicSide }, shown: `${control.host} port ${control.port}` };
}

function overIroh(
  { irohRelay: relay, nodeControl, effective }: Settings,
  { coreUrl, coreKey, controllerKey }: Joined,
): NodeSides {
  if (controllerKey === null || (coreKey === null && relay === null))
    throw new StartError(
      'core_not_on_iroh',
      `PLATFORM_LINK_CARRIER is iroh, and core takes no UDP at ${coreUrl}. Join with the https address of its PLATFORM_LINK_LISTEN, or set PLATFORM_IROH_RELAY.`,
    );
  const { hostname, port } = new URL(coreUrl);
  const core = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443), key: controllerKey };
  const listen = nodeControl === null ? {} : { listen: nodeControl };
  const hasOrigin = effective.some(({ name, set }) => name === 'PLATFORM_NODE_ORIGIN' && set);
  const over = { iroh: { core, relay, ...listen }, behindIngresses: !hasOrigin };
  return { over, shown: 'over iroh, on the connection of this node to core' };
}
