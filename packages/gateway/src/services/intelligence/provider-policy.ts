// What a Gateway knows of the providers that its workload may use: which there are, how each is spoken to, and how large a
// body may be. Core decides at every call; this says how to read a call before core is asked.
import type { IncomingHttpHeaders } from 'node:http';
import { type GatewayPolicy, limits, matchesResource } from '@platform/contract';
import type { Dialect } from './dialect.ts';
import { dialects } from './dialects.ts';

export const PREFIX = '/v1/services/intelligence/';
const TARGET = /^\/v1\/services\/intelligence\/([a-z0-9-]{1,32})(?:\/(.*))?$/;

/** The provider and the path below it that a path of the Gateway names; `null` when it names none. */
export function targetOf(path: string): { readonly provider: string; readonly path: string } | null {
  const [, provider, below = ''] = TARGET.exec(path) ?? [];
  return provider === undefined ? null : { provider, path: below };
}

/** What a call was let through for. */
export interface Concern {
  readonly provider: string;
  /** As `resourceOfCall` says. */
  readonly resource: string | null;
}

/** Whether the policy lets a call of this kind through. */
export function isAllowed({ intelligence }: GatewayPolicy, { provider, resource }: Concern): boolean {
  if (intelligence === undefined || !Object.hasOwn(intelligence.dialects, provider)) return false;
  const { models } = intelligence;
  return resource === null || models === undefined || models.some((pattern) => matchesResource(pattern, resource));
}

type IntelligencePolicy = GatewayPolicy['intelligence'];

export interface ProviderPolicy {
  /** Whether the policy names the provider. A workload chooses the name, which may be one that every object has. */
  isAssigned(provider: string): boolean;
  /** How the provider that `url` names is spoken to, as far as it is known here: core says it at every call. */
  dialectFor(url: string, headers: IncomingHttpHeaders): Dialect;
  /** The largest body of a call, in bytes. */
  bodyBytes(): number;
  /** Until the next policy: what core said of a provider at a call. */
  learn(provider: string, dialect: NonNullable<IntelligencePolicy>['dialects'][string]): void;
  replace(next: IntelligencePolicy): void;
}

export function openProviderPolicy(first: IntelligencePolicy): ProviderPolicy {
  let policy = first;
  const isAssigned = (provider: string) => policy !== undefined && Object.hasOwn(policy.dialects, provider);
  const bodyBytes = () => policy?.bodyBytes ?? limits.intelligenceBody.value;
  return {
    isAssigned,
    bodyBytes,
    dialectFor(url, headers) {
      const { provider = '' } = targetOf(url.split('?', 1)[0] ?? '') ?? {};
      const known = isAssigned(provider) ? policy?.dialects[provider] : undefined;
      return dialects[known ?? (headers['anthropic-version'] === undefined ? 'openai' : 'anthropic')];
    },
    learn(provider, dialect) {
      policy = { bodyBytes: bodyBytes(), dialects: { ...policy?.dialects, [provider]: dialect } };
    },
    replace(next) {
      policy = next;
    },
  };
}
