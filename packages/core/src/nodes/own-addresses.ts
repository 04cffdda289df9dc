// The addresses that a node reports are its own: none of the platform's, and none of another node.
import { type RefusalError, refuse } from '@platform/contract';
import { isIrohAddress, readIrohAddress } from '@platform/link';
import type { Kysely } from 'kysely';
import { foreignOriginReason, notElsewhereReason } from '../config/node-origin.ts';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { placedInstallations } from '../placement/face.ts';
import { dropOrigin, nodesAt } from './node-queries.ts';

type Places = Pick<CoreContext, 'config' | 'linkListen'>;

export interface ReportedAddresses {
  readonly controlUrl: string;
  readonly inboundOrigin: string | null;
  readonly publicUrl: string | undefined;
}

const MEMBERS = [
  ['inboundOrigin', 'PLATFORM_NODE_ORIGIN'],
  ['controlUrl', 'PLATFORM_NODE_CONTROL'],
  ['publicUrl', 'PLATFORM_NODE_PUBLIC'],
] as const;

/**
 * @throws RefusalError `invalid_request` when an address is one of the platform's own, or that of a node on another machine
 *   means whichever machine uses it
 */
export function refuseForeignAddresses(places: Places, where: 'local' | 'remote', addresses: ReportedAddresses): void {
  for (const [member, variable] of MEMBERS) {
    const address = addresses[member];
    if (address == null) continue;
    // An iroh address names a key, and no host.
    const foreign = isIrohAddress(address) ? null : foreignOriginReason(address, places);
    const hosts = where === 'local' ? [] : hostsOf(address);
    const from = member === 'inboundOrigin' ? 'browsers' : 'parts';
    const wrong = hosts.map((host) => notElsewhereReason(host, from, places)).find((one) => one !== null);
    const reason = foreign ?? wrong ?? null;
    if (reason !== null) throw refused(member, `The address ${address} ${reason}. Set ${variable} to another.`);
  }
}

function hostsOf(address: string): string[] {
  if (!isIrohAddress(address)) return [new URL(address).hostname];
  const { direct = [], relay = null } = readIrohAddress(address) ?? {};
  return [...direct.map((place) => `http://${place}`), ...(relay === null ? [] : [relay])].map(
    (place) => new URL(place).hostname,
  );
}

/**
 * To be called under the lock of placement, so that of two nodes that report one origin the second is refused. The
 * machine of core has its origin from its operator's configuration and takes it from a node that holds it wrongly. Control
 * addresses need no such check: core speaks to the holder of the node's key there, and to nobody else.
 *
 * @throws RefusalError `invalid_request` when another node has the origin
 */
export async function refuseOriginOfOthers(
  trx: Kysely<DatabaseSchema>,
  node: { readonly id: string; readonly where: 'local' | 'remote'; readonly log: CoreContext['log'] },
  origin: string,
): Promise<void> {
  for (const other of await nodesAt(trx, node.id, origin)) {
    if (node.where === 'remote' || (other.local && !other.lost))
      throw refused(
        'inboundOrigin',
        `The address ${origin} belongs to the node ${other.name}. Set PLATFORM_NODE_ORIGIN to another, or remove that node if it is gone: ./platform node remove ${other.name}`,
      );
    await withdrawOrigin(trx, other.id, origin);
    node.log.warn(
      { nodeId: other.id, name: other.name },
      'a node had the origin of the machine of core; it has none now',
    );
  }
}

/** Takes this origin from the node, if it has it: browsers are not sent there any more. */
export async function withdrawOrigin(trx: Kysely<DatabaseSchema>, nodeId: string, origin: string): Promise<void> {
  if (!(await dropOrigin(trx, nodeId, origin))) return;
  // Security policies of the frontends name the origin of their node.
  for (const { id, account_key } of await placedInstallations(trx, nodeId))
    await notify(trx, 'installation-changed', { installationId: id, accountKey: account_key });
}

function refused(member: string, detail: string): RefusalError {
  return refuse('invalid_request', detail, { errors: [{ path: member, message: 'is not an address of this node' }] });
}
