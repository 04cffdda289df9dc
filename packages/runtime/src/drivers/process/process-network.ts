// The network of one workload in a process sandbox beyond its Gateway: nothing, or what its owner granted.
import { closeSync, openSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../../clock.ts';
import { findProgram } from '../../find-program.ts';
import { type Egress, type EgressWays, NoEgress } from '../../network/egress.ts';
import { makeSocketsIn } from '../../network/namespace-sockets.ts';
import { openUdpRelay, type UdpRelay } from '../../network/udp-relay.ts';
import type { NetworkPolicy, UdpBinding, WorkloadInstance, WorkloadSpec } from '../driver.ts';
import { isAlive, type ProcessIdentity } from './process-tree.ts';
import type { ResolverFile } from './resolver-file.ts';

export interface ProcessNetworkParts {
  readonly ways: EgressWays | NoEgress;
  /** Name servers of a workload that may reach the internet. */
  readonly dns: readonly string[];
  /** The workload's own resolv.conf; undefined without a sandbox. */
  readonly resolver: ResolverFile | undefined;
  readonly log: Log;
}

export interface ProcessNetwork extends Pick<WorkloadInstance, 'applyNetworkPolicy' | 'publishUdp' | 'shortfalls'> {
  /** Finds the sandbox's network and puts the policy of the start into effect, before the workload runs code. */
  connect(workload: ProcessIdentity | undefined): Promise<void>;
  /** Gives everything back, after the workload has ended or never was. Never rejects. */
  close(): Promise<void>;
}

export function createProcessNetwork(spec: WorkloadSpec, parts: ProcessNetworkParts): ProcessNetwork {
  const { installationId, uid } = spec;
  let policy: NetworkPolicy = { public: false, tunnel: false };
  /** By name; those that could not be opened are in `unpublished`. */
  const relays = new Map<string, { readonly binding: UdpBinding; readonly relay: UdpRelay }>();
  let unpublished: readonly string[] = [];
  let egress: Egress | undefined;
  let descriptor: number | undefined;
  /** Why the internet is granted and not there. */
  let missing: string | undefined;

  async function open(): Promise<void> {
    missing = undefined;
    if (parts.ways instanceof NoEgress) {
      missing = parts.ways.message;
      return;
    }
    if (egress === undefined) return;
    try {
      await egress.grant();
      parts.resolver?.set(parts.dns);
    } catch (error) {
      parts.log.error({ installationId, err: error }, 'a workload could not be connected to the internet');
      missing = 'the platform could not make one; the log of the platform says more.';
    }
  }

  async function shut(): Promise<void> {
    missing = undefined;
    parts.resolver?.set([]);
    await egress?.revoke();
  }

  function closeRelays(isWanted: (binding: UdpBinding) => boolean): void {
    for (const [name, { binding, relay }] of relays) {
      if (isWanted(binding)) continue;
      relay.close();
      relays.delete(name);
    }
  }

  /** Why the port cannot be published, or undefined when it is. */
  async function publish(binding: UdpBinding, namespace: number): Promise<string | undefined> {
    const nsenter = findProgram('nsenter');
    if (process.getuid?.() !== 0 || nsenter === undefined)
      return 'only a platform that runs as root, with nsenter installed, can publish it';
    try {
      const relay = await openUdpRelay({
        address: binding.hostAddress,
        hostPort: binding.hostPort,
        containerPort: binding.containerPort,
        makeSockets: (count) => makeSocketsIn(nsenter, `/proc/${process.pid}/fd/${namespace}`, count),
      });
      relays.set(binding.name, { binding, relay });
      return undefined;
    } catch (error) {
      parts.log.error({ installationId, port: binding.hostPort, err: error }, 'a UDP port could not be published');
      return `port ${binding.hostPort} of this machine cannot be opened`;
    }
  }

  /** One after the other: a start that is given up closes what may just be opening. */
  let last: Promise<unknown> = Promise.resolve();
  function inTurn(work: () => Promise<void> | void): Promise<void> {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  }

  return {
    connect: (workload) =>
      inTurn(async () => {
        policy = spec.network;
        if (parts.resolver === undefined || workload === undefined) return;
        descriptor = openSync(`/proc/${workload.pid}/ns/net`, 'r');
        // The number may have gone to another process, whose network is none of our business.
        if (!isAlive(workload)) throw new Error('The workload ended before its network was made.');
        if (!(parts.ways instanceof NoEgress)) {
          egress = parts.ways.attach({ key: installationId, descriptor, ...(uid === undefined ? {} : { uid }) });
        }
        if (policy.public) await open();
      }),
    applyNetworkPolicy: (next) =>
      inTurn(async () => {
        const former = policy;
        policy = next;
        if (next.public && !former.public) await open();
        if (!next.public && former.public) await shut();
      }),
    publishUdp: (next) =>
      inTurn(async () => {
        closeRelays((binding) => next.some((wanted) => isDeepStrictEqual(wanted, binding)));
        const failed: string[] = [];
        for (const binding of next) {
          if (relays.has(binding.name)) continue;
          const why = descriptor === undefined ? 'it has no network of its own' : await publish(binding, descriptor);
          if (why !== undefined) failed.push(`The UDP port ${binding.name} is granted, but ${why}.`);
        }
        unpublished = failed;
      }),
    shortfalls: () => [
      ...(missing === undefined ? [] : [`The internet is granted, but there is no way to it: ${missing}`]),
      ...(policy.tunnel ? ['A network tunnel is granted, but only the docker driver can give one.'] : []),
      ...unpublished,
    ],
    close: () =>
      inTurn(async () => {
        closeRelays(() => false);
        await egress?.close();
        egress = undefined;
        parts.resolver?.remove();
        if (descriptor !== undefined) closeSync(descriptor);
        descriptor = undefined;
      }),
  };
}
