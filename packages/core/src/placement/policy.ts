// What grants allow a node and the Gateway on it to do. Core checks other grants at each request; what is here is enforced where
// the workload runs, until the next assignment. Assignments take it from here and nowhere else, and a change of grants compares
// it before and after, so whatever a grant allows there, revoking it waits until the node has ended it.
import { type Assignment, type Grant, type Manifest, openRoutes } from '@platform/contract';
import type { IntelligenceSettings } from '../config/intelligence-file.ts';
import { intelligenceForNode } from '../grants/assigned-providers.ts';
import { allows, resourcesOf } from '../grants/grant-coverage.ts';
import { networkGrants } from './network-grants.ts';
import { grantedSlots } from './usable-slots.ts';

/** What a version declares that its grants are about. */
export type Declared = Pick<Manifest, 'publicPorts' | 'secretSlots' | 'publicEndpoints'>;

export interface Policy extends Pick<Assignment, 'network' | 'udpPorts'> {
  /** Where the platform offers it to the account on this node. */
  readonly objectStorage: boolean;
  readonly providers: ReturnType<typeof intelligenceForNode>;
  /** Slots that may be used, bound or not. */
  readonly secretSlots: ReturnType<typeof grantedSlots>;
  /** Public requests that pass, as the manifest writes them, while the node takes public requests. */
  readonly publicRoutes: readonly string[];
}

/** Of the same grants, declarations and settings the result is equal (`isDeepStrictEqual`). */
export function policyOf(grants: readonly Grant[], declared: Declared, settings: IntelligenceSettings): Policy {
  return {
    ...networkGrants(grants, declared.publicPorts ?? []),
    objectStorage: allows(grants, 'object-storage.raw', 'self'),
    providers: intelligenceForNode(grants, settings),
    secretSlots: grantedSlots(grants, declared),
    publicRoutes: openRoutes(declared.publicEndpoints ?? [], resourcesOf(grants, 'endpoints.public')),
  };
}
