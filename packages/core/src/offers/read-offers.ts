// What the platform offers the apps of an account, from its configuration and its machines.
import type { Offers } from '@platform/contract';
import { isMaster } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import { diskLeft } from '../disk/face.ts';
import { listProviders } from '../intelligence/face.ts';
import { whyNoStorage } from '../object-storage/face.ts';
import { hostingLabels, machinesFor } from '../placement/face.ts';
import { hasIngress, selectAccount } from './queries.ts';

export async function readOffers(
  context: CoreContext,
  { accountKey, accountName }: { readonly accountKey: string; readonly accountName: string },
): Promise<Offers> {
  const { config, database } = context;
  const [account, machines, providers, diskBytes, ingress, settings] = await Promise.all([
    selectAccount(database, accountKey),
    machinesFor(database),
    listProviders(context, accountKey),
    diskLeft(context, accountKey),
    hasIngress(database),
    context.settings.current(),
  ]);
  const operator = await isMaster(context, accountName);
  const { open, any } = machines;
  return {
    operator,
    backends: any ? (open.length > 0 ? 'open' : 'closed') : 'none',
    paused: account.paused,
    machines: open,
    diskBytes,
    memoryPercent: operator ? 100 : config.accountMemoryPercent,
    udpPorts: config.accountUdpPorts,
    ai: providers.map(({ provider, name, source }) => ({ provider, name, ready: source !== null })),
    objectStorage: storageOf(context, settings, account.plan),
    publicAddress: ingress ? (isLocal(config.ingressDomain) ? 'local' : 'offered') : 'none',
  };
}

/** On a machine of the platform, as it prefers them. */
function storageOf(
  { config }: CoreContext,
  settings: Parameters<typeof whyNoStorage>[1],
  plan: 'free' | 'paid' | null,
): Offers['objectStorage'] {
  const [platformHosted] = hostingLabels;
  const refusal = whyNoStorage(config, settings, { plan, labels: [platformHosted] });
  if (refusal === null) return 'offered';
  return refusal.code === 'plan_required' ? 'plan' : 'none';
}

/** Names that every machine takes for itself (RFC 6761). */
function isLocal(domain: string): boolean {
  return domain === 'localhost' || domain.endsWith('.localhost');
}
