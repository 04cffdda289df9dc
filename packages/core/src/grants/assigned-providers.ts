// What assignments say of AI providers: which of them the grants of an installation name, and how each is spoken to.
import type { AssignedProvider, Assignment, Grant } from '@platform/contract';
import type { IntelligenceSettings } from '../config/intelligence-file.ts';
import { resourcesOf } from './grant-coverage.ts';

/** Whether a pattern names any model of the provider. */
export function namesProvider(pattern: string, provider: string): boolean {
  const beginning = `${provider}:`;
  return pattern.startsWith(beginning) || (pattern.endsWith('*') && beginning.startsWith(pattern.slice(0, -1)));
}

export function originOfProvider({ baseUrl }: { readonly baseUrl: string }): string {
  return new URL(baseUrl).origin;
}

/** In the order of the operator's file. */
export function assignedProviders(grants: readonly Grant[], settings: IntelligenceSettings): AssignedProvider[] {
  const patterns = resourcesOf(grants, 'intelligence.use');
  return settings.providers
    .filter(({ id }) => patterns.some((pattern) => namesProvider(pattern, id)))
    .map(({ id, dialect, environment }) => ({ provider: id, dialect, environment }));
}

/** The members of an assignment; none without a provider. */
export function intelligenceForNode(
  grants: readonly Grant[],
  settings: IntelligenceSettings,
): {
  readonly assignment: Pick<Assignment, 'intelligence'>;
  readonly policy: Pick<Assignment['gateway'], 'intelligence'>;
  /** Where Gateways reach them. */
  readonly origins: readonly string[];
} {
  const providers = assignedProviders(grants, settings);
  if (providers.length === 0) return { assignment: {}, policy: {}, origins: [] };
  const dialects = Object.fromEntries(providers.map(({ provider, dialect }) => [provider, dialect]));
  return {
    assignment: { intelligence: providers },
    policy: {
      intelligence: { dialects, bodyBytes: settings.bodyBytes, models: resourcesOf(grants, 'intelligence.use') },
    },
    origins: settings.providers.filter(({ id }) => Object.hasOwn(dialects, id)).map(originOfProvider),
  };
}
