// The network of one workload in a process sandbox beyond its Gateway: nothing, or what its owner granted.

import { closeSync, openSync } from 'node:fs';
import type { Log } from '../../clock.ts';
import { findProgram } from '../../find-program.ts';
import { type Egress, type EgressWays, type Launcher, NoEgress } from '../../network/egress.ts';
import { insideOf } from '../../network/inside.ts';
import type { Enter } from '../../network/namespace-sockets.ts';
import { createUdpPublisher, type UdpPublisherOptions } from '../../network/udp-publisher.ts';
import { oneAtATime } from '../../one-at-a-time.ts';
import type { NetworkPolicy, WorkloadInstance, WorkloadSpec } from '../driver.ts';
import { isAlive, type ProcessIdentity } from './process-tree.ts';
import type { ResolverFile } from './resolver-file.ts';

export interface ProcessNetworkParts {
  readonly ways: EgressWays | NoEgress;
  /** Name servers of a workload that may reach the internet. */
  readonly dns: readonly string[];
  /** The workload's own resolv.conf; undefined without a sandbox. */
  readonly resolver: ResolverFile | undefined;
  /** Where UDP ports are relayed to; see `UdpPublisherOptions`. Default: loopback. */
  readonly udpAddresses?: UdpPublisherOptions['addresses'];
  readonly log: Log;
}

export interface ProcessNetwork extends Pick<WorkloadInstance, 'applyNetworkPolicy' | 'publishUdp' | 'shortfalls'> {
  /**
   * Finds the sandbox's network and puts the policy of the start into effect, before the workload runs code.
   * @param launcher as an ordinary user, where it stays in the user namespace that this network belongs to
   */
  connect(workload: ProcessIdentity | undefined, launcher?: ProcessIdentity): Promise<void>;
  /** Gives everything back, after the workload has ended or never was. Never rejects. */
  close(): Promise<void>;
}

export function createProcessNetwork(spec: WorkloadSpec, parts: ProcessNetworkParts): ProcessNetwork {
  const { installationId, uid } = spec;
  let policy: NetworkPolicy = { public: false, tunnel: false };
  const udp = createUdpPublisher({
    installationId,
    namespace: async () => descriptor ?? 'The backend has no network of its own.',
    enter: () => enter,
    ...(parts.udpAddresses === undefined ? {} : { addresses: parts.udpAddresses }),
    log: parts.log,
  });
  let egress: Egress | undefined;
  let descriptor: number | undefined;
  /** As an ordinary user, where the launcher leads to rights over it. */
  let enter: Enter | undefined;
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
      missing = 'the platform could not set it up; see the platform’s log.';
    }
  }

  async function shut(): Promise<void> {
    missing = undefined;
    parts.resolver?.set([]);
    await egress?.revoke();
  }

  /** One after the other: a start that is given up closes what may just be opening. */
  const inTurn = oneAtATime();

  return {
    connect: (workload, launcher) =>
      inTurn(async () => {
        policy = spec.network;
        if (parts.resolver === undefined || workload === undefined) return;
        descriptor = openSync(`/proc/${workload.pid}/ns/net`, 'r');
        // The number may have gone to another process, whose network is none of our business.
        if (!isAlive(workload)) throw new Error('The workload ended before its network was made.');
        if (!(parts.ways instanceof NoEgress)) {
          egress = parts.ways.attach({
            key: installationId,
            descriptor,
            ...(uid === undefined ? {} : { uid }),
            ...(launcher === undefined ? {} : { launcher: asLauncher(launcher) }),
          });
        }
        if (launcher !== undefined) enter = wayThrough(launcher);
        if (policy.public) await open();
      }),
    applyNetworkPolicy: (next) =>
      inTurn(async () => {
        const former = policy;
        policy = next;
        if (next.public && !former.public) await open();
        if (!next.public && former.public) await shut();
      }),
    publishUdp: (next) => inTurn(() => udp.publish(next)),
    shortfalls: () => [
      ...[missing ?? egress?.trouble?.()].flatMap((why) =>
        why === undefined ? [] : [`Internet access is granted, but not available: ${why}`],
      ),
      ...(policy.tunnel ? ['A network tunnel is granted, but only the docker driver provides it.'] : []),
    ],
    close: () =>
      inTurn(async () => {
        udp.close();
        await egress?.close();
        egress = undefined;
        parts.resolver?.remove();
        if (descriptor !== undefined) closeSync(descriptor);
        descriptor = undefined;
      }),
  };
}

function asLauncher(launcher: ProcessIdentity): Launcher {
  return { pid: launcher.pid, isAlive: () => isAlive(launcher) };
}

function wayThrough(launcher: ProcessIdentity): Enter | undefined {
  const nsenter = findProgram('nsenter');
  return nsenter === undefined ? undefined : (command) => insideOf(nsenter, launcher, command);
}
