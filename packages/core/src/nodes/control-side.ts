// Where the control side of a node is reached and with what; refuses nodes that cannot be asked from this machine.
import { type InstallationId, refuse } from '@platform/contract';
import { lookupElsewhere } from '@platform/http';
import { isIrohAddress, type LinkTarget, linkCertificate } from '@platform/link';
import { isOneMachine, notElsewhereReason } from '../config/node-origin.ts';
import type { CoreContext } from '../context.ts';
import { linkKeyOf, unseal } from '../credentials/master-key.ts';
import type { Executor } from '../database/schema.ts';
import { boundToLost } from './lose-node.ts';
import { type ControlAddress, sealedControl } from './node-queries.ts';

export const CONTROL_PURPOSE = 'node-control';

/** Whether the key opens what was sealed for a node; true where nothing was. */
export async function opensControlCredentials(database: Executor, masterKey: Buffer): Promise<boolean> {
  const sealed = await sealedControl(database);
  if (sealed === undefined) return true;
  try {
    unseal(masterKey, CONTROL_PURPOSE, sealed.id, sealed.control_credential);
    return true;
  } catch {
    // Another key, or a changed value: neither is one to go on with.
    return false;
  }
}

/** Of connections over iroh, which nodes keep to core. */
export const CONTROL_SERVICE = 'control';

/** As every node names it. */
const CONTROL_PATH = '/control';

export interface ControlTarget {
  /** `http://…` or `https://…` without a path, or an iroh address. */
  readonly origin: string;
  /** Before the path of every request. */
  readonly base: string;
  /** What core presents as Bearer. */
  readonly credential: string;
  /** What the node must prove, and what core proves to it. `null` for the node on this machine. */
  readonly link: NodeLink | null;
}

export interface NodeLink extends Pick<LinkTarget, 'certificate' | 'iroh' | 'lookup'> {
  readonly key: Buffer;
}

export class ControlSide {
  readonly #context: CoreContext;
  readonly #localNodeId: () => string | null;
  /** Made at the first link to a node. */
  #certificate: ReturnType<typeof linkCertificate> | undefined;

  /** @param localNodeId the node on this very machine, whose loopback addresses mean something here */
  constructor(context: CoreContext, localNodeId: () => string | null) {
    this.#context = context;
    this.#localNodeId = localNodeId;
  }

  /**
   * @throws RefusalError `workload_unavailable` for a node that is lost, not there yet, or reached by another core
   * only
   */
  async target(id: InstallationId, address: ControlAddress): Promise<ControlTarget> {
    const { control_url: url, control_credential: sealed, public_key: key } = address;
    if (address.lost_at !== null) throw refuse('workload_unavailable', boundToLost(address.name));
    if (url === null || sealed === null) throw this.unavailable(id, 'it has not registered yet');
    const { masterKey, iroh } = this.#context;
    const credential = unseal(masterKey, CONTROL_PURPOSE, address.node_id, sealed).toString('utf8');
    const isIroh = isIrohAddress(url);
    if ((isIroh || url.startsWith('https:')) && key === null) throw this.unavailable(id, 'the node has no key');
    if (isIroh && key !== null) {
      if (iroh === null) throw this.unavailable(id, 'it is reached over iroh: PLATFORM_LINK_CARRIER is not iroh here');
      return { origin: url, base: CONTROL_PATH, credential, link: { key, iroh } };
    }
    const { origin, pathname: base } = new URL(url);
    if (key !== null && url.startsWith('https:')) {
      // Nodes require core's certificate here.
      this.#certificate ??= linkCertificate(linkKeyOf(masterKey));
      const certificate = await this.#certificate;
      const isElsewhere = address.node_id !== this.#localNodeId() && !isOneMachine(this.#context);
      const reason = isElsewhere ? notElsewhereReason(new URL(url).hostname, 'parts', this.#context) : null;
      if (reason !== null) throw this.unavailable(id, `its address ${reason}`);
      const lookup = isElsewhere ? lookupElsewhere : undefined;
      return { origin, base, credential, link: { key, certificate, lookup } };
    }
    // That node does not listen on this machine's loopback interface, and another process there must not get its
    // credential.
    if (address.node_id !== this.#localNodeId())
      throw this.unavailable(
        id,
        'it is reached on the machine of another core only: PLATFORM_NODE_CONTROL is not set there',
      );
    return { origin, base, credential, link: null };
  }

  /** Logs why; the caller learns that the node does not answer. */
  unavailable(installationId: InstallationId, why: string, cause?: unknown): Error {
    this.#context.log.warn({ installationId, why, ...(cause === undefined ? {} : { err: cause }) }, 'a node failed');
    return refuse('workload_unavailable', 'The machine that runs the backend of this app does not answer.');
  }
}
