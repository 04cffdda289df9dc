// The one place that says what carries messages: the bundled transport, the bridge beside it, or nothing while the configuration of
// the bridge is incomplete.
import { type RefusalError, refuse } from '@platform/contract';
import type { JobKind } from '../background/jobs.ts';
import { LeasedWorker } from '../background/leased-worker.ts';
import type { CoreContext } from '../context.ts';
import type { Worker } from '../domain.ts';
import { BridgeClient } from './bridge/bridge-client.ts';
import { bridgedTransport } from './bridge/bridged-transport.ts';
import { NoticesWork } from './bridge/follow-notices.ts';
import { forgettingAccounts } from './bridge/forget-accounts.ts';
import { bundledTransport } from './bundled/bundled-transport.ts';
import type { Transport } from './transport.ts';

export interface ChosenTransport {
  readonly transport: Transport;
  /** Conversations that this platform keeps itself, whatever carries new ones. */
  readonly bundled: Transport;
  /** Why there is no messaging; `null` where there is. */
  readonly unavailable: (() => RefusalError) | null;
  readonly workers: readonly Worker[];
  readonly jobs: readonly JobKind<string>[];
}

export function chooseTransport(context: CoreContext): ChosenTransport {
  const bundled = bundledTransport(context);
  const { bridge } = context.config.messaging;
  if (bridge.kind === 'configured') {
    const client = new BridgeClient(context, bridge);
    // They stop in the reverse order.
    const workers = [
      { start: () => undefined, stop: () => client.close() },
      new LeasedWorker(context, new NoticesWork(context, client)),
    ];
    const jobs = [forgettingAccounts(context, client)];
    return { transport: bridgedTransport(context, client, bundled), bundled, unavailable: null, workers, jobs };
  }
  const unavailable =
    bridge.kind === 'none'
      ? null
      : () => refuse('transport_unavailable', `The operator has to set ${bridge.missing}, too.`);
  return { transport: bundled, bundled, unavailable, workers: [], jobs: [forgettingAccounts(context, null)] };
}
