// The tables of the contract, composed of what each domain contributes. A new domain is its own file and three lines
// here: its import, its exports, its place in the list. Tests compare docs/limits.md, docs/errors.md and openapi.json
// with these tables.
import type { Domain } from './domain.ts';
import { accountClosing, accountExport } from './domains/account-closing.ts';
import { accounts } from './domains/accounts.ts';
import { agents } from './domains/agents.ts';
import { authorTokens } from './domains/author-tokens.ts';
import { catalog } from './domains/catalog.ts';
import { clients } from './domains/clients.ts';
import { common } from './domains/common.ts';
import { connections } from './domains/connections.ts';
import { contacts } from './domains/contacts.ts';
import { content } from './domains/content.ts';
import { development } from './domains/development.ts';
import { disk, volumes } from './domains/disk.ts';
import { drafts } from './domains/drafts.ts';
import { files } from './domains/files.ts';
import { fleet } from './domains/fleet.ts';
import { grants } from './domains/grants.ts';
import { guide } from './domains/guide.ts';
import { health } from './domains/health.ts';
import { home } from './domains/home.ts';
import { ingress } from './domains/ingress.ts';
import { installations } from './domains/installations.ts';
import { intelligence } from './domains/intelligence.ts';
import { leases } from './domains/leases.ts';
import { messaging } from './domains/messaging.ts';
import { nodes } from './domains/nodes.ts';
import { notifications } from './domains/notifications.ts';
import { objectStorage } from './domains/object-storage.ts';
import { accountOffers } from './domains/offers.ts';
import { operator } from './domains/operator.ts';
import { operatorSettingsDomain } from './domains/operator-settings.ts';
import { outbound } from './domains/outbound.ts';
import { packages } from './domains/packages.ts';
import { pause } from './domains/pause.ts';
import { placement } from './domains/placement.ts';
import { proposals } from './domains/proposals.ts';
import { publicAddresses } from './domains/public-address.ts';
import { push } from './domains/push.ts';
import { accountRecipient } from './domains/recipient.ts';
import { schedules } from './domains/schedules.ts';
import { search } from './domains/search.ts';
import { secrets } from './domains/secrets.ts';
import { sharing } from './domains/sharing.ts';
import { tools } from './domains/tools.ts';
import { wallet } from './domains/wallet.ts';
import { webSearch } from './domains/web-search.ts';
import { workflows } from './domains/workflows.ts';
import { workloads } from './domains/workloads.ts';

export * from './domains/account-closing.ts';
export * from './domains/accounts.ts';
export * from './domains/agents.ts';
export * from './domains/author-tokens.ts';
export * from './domains/catalog.ts';
export * from './domains/clients.ts';
export { common, emptyBody, page, pageQuery } from './domains/common.ts';
export * from './domains/connections.ts';
export * from './domains/contacts.ts';
export * from './domains/content.ts';
export * from './domains/development.ts';
export * from './domains/disk.ts';
export * from './domains/drafts.ts';
export * from './domains/files.ts';
export * from './domains/fleet.ts';
export * from './domains/gateway.ts';
export * from './domains/grants.ts';
export * from './domains/guide.ts';
export * from './domains/health.ts';
export * from './domains/home.ts';
export * from './domains/ingress.ts';
export * from './domains/installations.ts';
export * from './domains/intelligence.ts';
export * from './domains/leases.ts';
export * from './domains/members.ts';
export * from './domains/messaging.ts';
export * from './domains/nodes.ts';
export * from './domains/notifications.ts';
export * from './domains/object-storage.ts';
export * from './domains/offers.ts';
export * from './domains/operator.ts';
export * from './domains/operator-settings.ts';
export * from './domains/outbound.ts';
export * from './domains/packages.ts';
export * from './domains/passkey-credentials.ts';
export * from './domains/pause.ts';
export * from './domains/placement.ts';
export * from './domains/proposals.ts';
export * from './domains/public-address.ts';
export * from './domains/push.ts';
export * from './domains/recipient.ts';
export * from './domains/schedules.ts';
export * from './domains/search.ts';
export * from './domains/secrets.ts';
export * from './domains/sharing.ts';
export * from './domains/tools.ts';
export * from './domains/wallet.ts';
export * from './domains/wallet-proposals.ts';
export * from './domains/web-search.ts';
export * from './domains/workflows.ts';
export * from './domains/workloads.ts';

const domains = {
  common,
  health,
  accounts,
  accountClosing,
  authorTokens,
  accountExport,
  grants,
  packages,
  agents,
  catalog,
  disk,
  volumes,
  installations,
  home,
  development,
  drafts,
  clients,
  workloads,
  pause,
  notifications,
  push,
  search,
  leases,
  workflows,
  schedules,
  secrets,
  tools,
  webSearch,
  proposals,
  wallet,
  outbound,
  nodes,
  placement,
  publicAddresses,
  ingress,
  objectStorage,
  accountOffers,
  fleet,
  operator,
  operatorSettings: operatorSettingsDomain,
  guide,
  intelligence,
  messaging,
  contacts,
  content,
  files,
  sharing,
  connections,
  recipient: accountRecipient,
} as const satisfies Readonly<Record<string, Domain>>;

type Domains = typeof domains;

type Part = 'limits' | 'errors' | 'routes' | 'metrics';
type Contributed<Name extends Part> = Extract<Domains[keyof Domains], { readonly [_ in Name]: unknown }>[Name];
type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;
/** Every entry under its name, with exactly the type it has in its domain. */
type Composed<Name extends Part> = Intersection<Contributed<Name>>;

/** @throws Error when two domains give an entry the same name */
function compose<Name extends Part>(name: Name): Composed<Name> {
  const table: Record<string, unknown> = {};
  for (const domain of Object.values<Domain>(domains)) {
    for (const [key, entry] of Object.entries(domain[name] ?? {})) {
      if (Object.hasOwn(table, key)) throw new Error(`Two domains contribute ${name}.${key}; rename one of them.`);
      table[key] = entry;
    }
  }
  // Each entry was taken from the domain that contributes it, which is what `Composed` says.
  return table as Composed<Name>;
}

/** Every numeric limit that crosses a border. */
export const limits = compose('limits');
/** Every refusal that a caller can meet. */
export const errors = compose('errors');
/** For every route its callers, grant, resource, body and rate limit (architecture, rule 3). */
export const routes = compose('routes');
/** Every metric of core (see metrics.ts for those of the other parts). */
export const coreMetrics = compose('metrics');

type RouteOf<One> = One extends { readonly routes: infer Table } ? keyof Table : never;
/** The ids of a domain's routes, e.g. `DomainRoute<'search'>`. */
export type DomainRoute<Name extends keyof Domains> = RouteOf<Domains[Name]>;
