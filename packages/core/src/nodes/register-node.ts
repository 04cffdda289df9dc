// Registers a node's addresses: its control side for core, its endpoint side for browsers and native clients.

import { RefusalError, refuse, type registerNodeBody } from '@platform/contract';
import { isIrohAddress, readIrohAddress } from '@platform/link';
import type * as z from 'zod';
import type { CoreContext } from '../context.ts';
import { seal } from '../credentials/master-key.ts';
import { notify } from '../database/notify.ts';
import { assignmentsChanged, lockPlacement, placedInstallations } from '../placement/face.ts';
import { keepPublicSide, servesPublic } from '../topology/face.ts';
import { CONTROL_PURPOSE, CONTROL_SERVICE } from './control-side.ts';
import { registeringNode, updateNode } from './node-queries.ts';
import { refuseForeignAddresses, refuseOriginOfOthers, withdrawOrigin } from './own-addresses.ts';

type Registration = z.output<typeof registerNodeBody>;

/**
 * Keeps the registration of a node; its control credential is sealed, as core has to present it.
 *
 * A refusal is logged for the operator of core; the node says it to its own. An origin that is refused is not used any
 * more, either, if the node had it before.
 *
 * @throws RefusalError `invalid_request` for a control address that is not the node's, an inbound origin that is none,
 *   or an address of the platform itself, of another node, or of whichever machine uses it
 */
export async function registerNode(context: CoreContext, nodeId: string, registration: Registration): Promise<void> {
  try {
    await register(context, nodeId, registration);
  } catch (error) {
    if (!(error instanceof RefusalError)) throw error;
    const { inboundOrigin } = registration;
    if (inboundOrigin !== undefined)
      await context.database.transaction().execute((trx) => withdrawOrigin(trx, nodeId, inboundOrigin));
    context.log.warn({ nodeId, why: error.refusal.detail }, 'the addresses of a node were refused');
    throw error;
  }
}

async function register(context: CoreContext, nodeId: string, registration: Registration): Promise<void> {
  const inboundOrigin = checkOrigin(registration);
  const { masterKey, random, config } = context;
  const controlCredential = seal(
    masterKey,
    CONTROL_PURPOSE,
    nodeId,
    Buffer.from(registration.controlCredential, 'utf8'),
    random,
  );
  const { machine, asksCapabilities = false } = registration;
  await context.database.transaction().execute(async (trx) => {
    const seenAt = context.clock();
    // What the node has counts at placement.
    await lockPlacement(trx);
    const node = await registeringNode(trx, nodeId);
    const where = node.local ? 'local' : 'remote';
    const key = node.publicKey;
    const controlUrl = checkControlUrl(registration.controlUrl, { where, key });
    const publicSide = checkPublicSide(registration.publicSide, { where, key });
    refuseForeignAddresses(context, where, { controlUrl, inboundOrigin, publicUrl: publicSide?.url });
    if (inboundOrigin !== null) await refuseOriginOfOthers(trx, { id: nodeId, where, log: context.log }, inboundOrigin);
    const values = { controlUrl, controlCredential, inboundOrigin, machine, asksCapabilities, seenAt };
    const former = await updateNode(trx, nodeId, values);
    // Its assignments say what it needs for public requests from now on, or no longer.
    if ((await servesPublic(trx, nodeId)) !== (publicSide !== undefined)) await assignmentsChanged(trx, null);
    await keepPublicSide(trx, context, { id: nodeId, ...node }, publicSide);
    if ((former ?? config.nodeOrigin) === inboundOrigin) return;
    // Security policies of the frontends name the origin of their node. Whether it had none before is not known.
    for (const { id, account_key } of await placedInstallations(trx, nodeId))
      await notify(trx, 'installation-changed', { installationId: id, accountKey: account_key });
  });
}

interface Registering {
  readonly where: 'local' | 'remote';
  readonly key: Buffer | null;
}

/** Of connections over iroh, which nodes keep to Ingresses. */
const PUBLIC_SERVICE = 'public';
const LOOPBACK = /^(127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Core presents a credential at this address and trusts its answers, so it must be the Runtime on this machine, or a
 * link whose other side proves the node's key.
 */
function checkControlUrl(value: string, { where, key }: Registering): string {
  if (isOverIroh(value, CONTROL_SERVICE, key)) return value;
  const url = new URL(value);
  const plain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  const fits =
    url.protocol === 'https:' || (where === 'local' && url.protocol === 'http:' && LOOPBACK.test(url.hostname));
  if (!fits || !plain)
    throw refuse('invalid_request', 'The control address is not one at which core goes to this node.', {
      errors: [
        {
          path: 'controlUrl',
          message:
            where === 'local'
              ? 'must be https, or http on the loopback interface'
              : "must be https, or an iroh address with the node's own key",
        },
      ],
    });
  return url.href.replace(/\/$/, '');
}

/**
 * Ingresses present a credential there. Plain http means something to the Ingress on the same machine alone, which is the
 * only one that gets it.
 */
function checkPublicSide(side: Registration['publicSide'], { where, key }: Registering): Registration['publicSide'] {
  if (side === undefined || isOverIroh(side.url, PUBLIC_SERVICE, key)) return side;
  const local = where === 'local';
  const url = new URL(side.url);
  const fits = url.protocol === 'https:' || (local && url.protocol === 'http:' && LOOPBACK.test(url.hostname));
  if (!fits || url.origin !== side.url.replace(/\/$/, ''))
    throw refuse('invalid_request', 'The public side is not one at which an Ingress goes to this node.', {
      errors: [
        {
          path: 'publicSide.url',
          message: local
            ? 'must be an https origin, or an http one on the loopback interface'
            : "must be an https origin, or an iroh address with the node's own key",
        },
      ],
    });
  return { ...side, url: url.origin };
}

function isOverIroh(value: string, service: string, key: Buffer | null): boolean {
  const address = readIrohAddress(value);
  return address?.service === service && key?.equals(address.key) === true;
}

/**
 * It is written into launch descriptors and security policies, so it holds a scheme, a host and a port only.
 *
 * @returns `null` for a node that clients reach through Ingresses
 */
function checkOrigin({ inboundOrigin: value, controlUrl, publicSide }: Registration): string | null {
  if (value === undefined) {
    if (isIrohAddress(controlUrl) && publicSide !== undefined && isIrohAddress(publicSide.url)) return null;
    throw refuse('invalid_request', 'Without an inbound origin, core and Ingresses must reach the node over iroh.', {
      errors: [{ path: 'inboundOrigin', message: 'must be there for a node that is not reached over iroh' }],
    });
  }
  const url = new URL(value);
  if (!/^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:\d+)?$/.test(value) || url.origin !== value)
    throw refuse('invalid_request', 'The inbound origin must be a bare http or https origin.', {
      errors: [{ path: 'inboundOrigin', message: 'must be a scheme, a host and a port' }],
    });
  return url.origin;
}
