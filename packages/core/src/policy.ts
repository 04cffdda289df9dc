// What an installation may do on its node: the members of its assignment that follow from its grants, and the policy of its
// Gateway. Each domain derives its own members (`Domain.policy`), and nothing else does: assignments are filled from here,
// and a change of grants is compared here, so that whatever a domain adds is also taken away when its grant is revoked.
import { isDeepStrictEqual } from 'node:util';
import type { Assignment, GatewayPolicy, Grant, Manifest } from '@platform/contract';
import type { Plan } from './accounts/face.ts';

/** What the owner granted to the version that is installed. */
export interface Granted {
  readonly appId: string;
  readonly grants: readonly Grant[];
  readonly manifest: Pick<Manifest, 'publicEndpoints' | 'publicPorts' | 'secretSlots'>;
}

/** A row of `secret_bindings`. */
export interface Bound {
  readonly slot: string;
  readonly secret_name: string;
  readonly declaration_hash: string;
  readonly inject_in: string;
  readonly inject_name: string;
  readonly inject_scheme: string;
}

/** What a policy depends on besides; other transactions change it. */
export interface Circumstances {
  /**
   * The account is paused or suspended. Its Gateways may do nothing: calls under way end before a backend that is being
   * stopped does.
   */
  readonly barred: boolean;
  /** Of the account; `null` where the operator set none. */
  readonly plan: Plan | null;
  /** Of the node. */
  readonly labels: readonly string[];
  /** Whether the node takes public requests. */
  readonly servesPublic: boolean;
  /** Of its public hostname; `null` before it has one. */
  readonly publicLabel: string | null;
  /** Its secrets. */
  readonly bindings: readonly Bound[];
}

/** Members of an assignment that follow from grants. */
type OfNode = Pick<Assignment, 'network' | 'udpPorts' | 'objectStorage' | 'intelligence'>;

/** What one domain derives; a member that it leaves out is not allowed. */
export interface Allowed {
  /** What the node itself enforces. */
  readonly node?: Partial<OfNode>;
  readonly gateway?: Omit<GatewayPolicy, 'revision' | 'privateOrigins'>;
  /** Of the operator, reached on any address. Of all domains together: `privateOrigins` of the policy. */
  readonly privateOrigins?: readonly string[];
}

/**
 * Pure, but for settings of the platform.
 *
 * @param now `null` asks for all that the grants could allow, whatever the circumstances: two sets of grants are compared
 *   by it, since circumstances may change at the same time
 */
export type PolicyPart = (granted: Granted, now: Circumstances | null) => Allowed;

export interface Policy extends OfNode {
  readonly gateway: Omit<GatewayPolicy, 'revision'>;
}

const NOTHING: OfNode = { network: { public: false, tunnel: false }, udpPorts: [], objectStorage: false };

export class Policies {
  #parts: readonly PolicyPart[] = [];

  /** Called once, when the domains are there. */
  follow(domains: readonly { readonly policy?: PolicyPart }[]): void {
    this.#parts = domains.flatMap(({ policy }) => policy ?? []);
  }

  /** @param now as for a {@link PolicyPart} */
  of(granted: Granted, now: Circumstances | null): Policy {
    const all = this.#parts.map((part) => part(granted, now));
    const gateway = whole(all.map((part) => part.gateway ?? {}));
    const privateOrigins = [...new Set(all.flatMap((part) => part.privateOrigins ?? []))];
    return {
      ...NOTHING,
      ...whole(all.map(({ node = {} }) => node)),
      gateway: now?.barred === true ? {} : { ...gateway, ...(privateOrigins.length === 0 ? {} : { privateOrigins }) },
    };
  }

  /** Whether a node may have something to carry out when these grants are replaced by those. */
  differ(granted: Granted, grants: readonly Grant[]): boolean {
    return !isDeepStrictEqual(this.of(granted, null), this.of({ ...granted, grants }, null));
  }
}

function whole<Members extends object>(parts: readonly Members[]): Members {
  const names = parts.flatMap((part) => Object.keys(part));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`two domains derive ${twice} of a policy`);
  return Object.assign({}, ...parts);
}
