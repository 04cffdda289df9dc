// Where nodes and Ingresses of other machines reach this core, under core's link key and proving their own: over TLS, and
// where it is on over iroh, on connections over which core then reaches a node behind NAT.
import type { Server } from 'node:http';
import { acceptLinks } from '@platform/link';
import type { CoreContext } from '../context.ts';
import { linkKeyOf } from '../credentials/master-key.ts';
import { CONTROL_SERVICE } from './control-side.ts';
import { findNodeByKey } from './node-queries.ts';

export interface NodeListener {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Lets `server` answer there too; http/callers/link-routes.ts says what. The connections of a
 * node or an Ingress end when it is removed.
 *
 * @throws Error when the address cannot be bound
 */
export async function listenForNodes(
  { database, masterKey, signals, log, iroh }: CoreContext,
  server: Server,
  at: { readonly host: string; readonly port: number },
  isIngressKey: (key: Buffer) => Promise<boolean>,
): Promise<NodeListener> {
  const isNodeKey = async (key: Buffer) => (await findNodeByKey(database, key)) !== undefined;
  const isKnown = async (key: Buffer) => (await isNodeKey(key)) || (await isIngressKey(key));
  const link = await acceptLinks(server, { ...at, key: linkKeyOf(masterKey), isKnown, strangers: 'served' });
  const kept = iroh?.offer({ name: CONTROL_SERVICE, isKnown: isNodeKey });
  const recheck = (): void => {
    // While the database is away nothing is served; the signals say when it is back.
    Promise.all([link.recheck(), kept?.recheck()]).catch((error: unknown) =>
      log.warn({ err: error }, 'the keys of connected nodes and Ingresses could not be checked'),
    );
  };
  const stops = [
    signals.on('node-credential-replaced', recheck),
    signals.on('ingress-credential-replaced', recheck),
    signals.onReset(recheck),
  ];
  return {
    port: link.port,
    async close() {
      for (const stop of stops) stop();
      kept?.close();
      await link.close();
    },
  };
}
