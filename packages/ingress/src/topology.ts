// The topology as this Ingress knows it: which requests to which public name pass, and where they go. It changes in steps:
// what the stream says between two `current` lines takes effect at once.
import {
  type PublicRoutes,
  publicRoutes,
  type Refusal,
  type TopologyLine,
  type TopologyNode,
  type TopologyRoute,
} from '@platform/contract';

/** A request or WebSocket under way that ends when its route does. */
export interface UnderWay {
  /** As `PublicRoutes.match` takes it. */
  readonly method: string;
  readonly path: string;
  /** Its route is gone. @param refusal what such a request gets from now on */
  revoke(refusal: Refusal): void;
}

/** Whose requests pass under one name. */
interface Named extends Omit<TopologyRoute, 'installationId' | 'routes'> {
  /** Whose rate and places its requests take: an installation, or a node. */
  readonly owner: string;
  /** `endpoints`: those to `/e/…`, whatever their method, for the endpoint side of its node. */
  readonly routes: TopologyRoute['routes'] | 'endpoints';
}

const BELOW_ENDPOINTS = '/e/';

/** One public name, or the host of a node behind NAT. Stays the same object while its name lives. */
export class PublicName {
  readonly hostname: string;
  #route: Named;
  /** Compiled at the first request: of 100,000 names most get none. */
  #routes: PublicRoutes | null = null;
  #underWay: Set<UnderWay> | null = null;

  constructor(route: Named) {
    this.hostname = route.hostname;
    this.#route = route;
  }

  /** Whose rate and places its requests take. */
  get owner(): string {
    return this.#route.owner;
  }

  /** Whether clients show their own credentials there, to the node. */
  get isOfEndpoints(): boolean {
    return this.#route.routes === 'endpoints';
  }

  get nodeId(): string | null {
    return this.#route.nodeId;
  }

  passes(method: string, path: string): boolean {
    const { routes } = this.#route;
    if (routes === 'endpoints') return path.startsWith(BELOW_ENDPOINTS);
    this.#routes ??= publicRoutes(routes);
    return this.#routes.match(method, path);
  }

  begin(exchange: UnderWay): void {
    this.#underWay ??= new Set();
    this.#underWay.add(exchange);
  }

  end(exchange: UnderWay): void {
    this.#underWay?.delete(exchange);
    if (this.#underWay?.size === 0) this.#underWay = null;
  }

  /** From now on this counts; what is under way and has no route any more ends. */
  change(route: Named): void {
    const isOther = route.owner !== this.#route.owner;
    this.#route = route;
    this.#routes = null;
    for (const exchange of this.#underWay ?? [])
      if (isOther || !this.passes(exchange.method, exchange.path)) exchange.revoke({ code: 'not_found' });
  }

  /** Ends everything that is under way. */
  endAll(refusal: Refusal): void {
    for (const exchange of this.#underWay ?? []) exchange.revoke(refusal);
  }
}

export interface TopologyHooks {
  /** These nodes are known from now on, the others are not. */
  nodes(nodes: ReadonlyMap<string, TopologyNode>): void;
}

export class Topology {
  readonly #hooks: TopologyHooks;
  readonly #names = new Map<string, PublicName>();
  readonly #nodes = new Map<string, TopologyNode>();
  #revision: string | undefined;
  #step: Step = newStep();

  constructor(hooks: TopologyHooks) {
    this.#hooks = hooks;
  }

  /** What is in effect; `undefined` before the first `current`. */
  get revision(): string | undefined {
    return this.#revision;
  }

  get size(): number {
    return this.#names.size;
  }

  /** @param hostname lower case, without port */
  find(hostname: string): PublicName | undefined {
    return this.#names.get(hostname);
  }

  names(): Iterable<PublicName> {
    return this.#names.values();
  }

  /** Forgets lines that no `current` followed: their stream has ended. */
  abandonStep(): void {
    this.#step = newStep();
  }

  /** @returns the revision that came into effect with this line, if one did */
  take(line: TopologyLine): string | undefined {
    const step = this.#step;
    switch (line.kind) {
      case 'snapshot':
        this.#step = { ...newStep(), isSnapshot: true };
        return undefined;
      case 'nodes':
        for (const id of line.gone) step.nodes.set(id, null);
        for (const node of line.items) step.nodes.set(node.nodeId, node);
        return undefined;
      case 'routes':
        for (const hostname of line.gone) step.routes.set(hostname, null);
        for (const { installationId, ...route } of line.items)
          step.routes.set(route.hostname, { ...route, owner: installationId });
        return undefined;
      case 'current':
        this.#step = newStep();
        this.#apply(step);
        this.#revision = line.revision;
        return line.revision;
    }
  }

  /** A route with what many names have in common held once: most apps have few routes, and many the same. */
  #shared(route: Named, lists: Map<string, string[]>): Named {
    if (route.routes === 'endpoints') return route;
    const key = JSON.stringify(route.routes);
    const routes = lists.get(key) ?? route.routes;
    lists.set(key, routes);
    const nodeId = route.nodeId === null ? null : (this.#nodes.get(route.nodeId)?.nodeId ?? route.nodeId);
    return { hostname: route.hostname, owner: route.owner, nodeId, routes };
  }

  #apply({ isSnapshot, nodes, routes }: Step): void {
    if (isSnapshot) this.#nodes.clear();
    for (const [id, node] of nodes) {
      const former = this.#nodes.get(id)?.endpointHost;
      if (former !== undefined) routes.set(former, null);
      const hostname = node?.endpointHost;
      if (hostname !== undefined) routes.set(hostname, { hostname, owner: id, nodeId: id, routes: 'endpoints' });
      if (node === null) this.#nodes.delete(id);
      else this.#nodes.set(id, node);
    }
    // Before the names: one that moves finds the node where it is now.
    if (isSnapshot || nodes.size > 0) this.#hooks.nodes(this.#nodes);
    if (isSnapshot) {
      for (const hostname of this.#names.keys()) if (!routes.has(hostname)) routes.set(hostname, null);
    }
    const lists = new Map<string, string[]>();
    for (const [hostname, said] of routes) {
      const known = this.#names.get(hostname);
      const route = said === null ? null : this.#shared(said, lists);
      if (route === null) {
        this.#names.delete(hostname);
        known?.endAll({ code: 'unknown_host' });
      } else if (known === undefined) this.#names.set(hostname, new PublicName(route));
      else known.change(route);
    }
  }
}

/** What was said since the last `current`; `null` for what is gone. */
interface Step {
  readonly isSnapshot: boolean;
  readonly nodes: Map<string, TopologyNode | null>;
  readonly routes: Map<string, Named | null>;
}

function newStep(): Step {
  return { isSnapshot: false, nodes: new Map(), routes: new Map() };
}
