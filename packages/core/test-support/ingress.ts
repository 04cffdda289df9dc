// An Ingress as core sees it, for tests of core alone: follows the topology through the real route, remembers what it was
// sent, and applies it when the test wants. The real Ingress is in the whole-system tests.
import assert from 'node:assert/strict';
import http from 'node:http';
import { createInterface } from 'node:readline';
import { type TopologyLine, type TopologyRoute, topologyLine } from '@platform/contract';
import type { Constellation } from '../../../tests/support/constellation.ts';
import type { RawAnswer } from '../../../tests/support/raw-http.ts';
import { bearer } from './apps.ts';

export type Platform = Pick<Constellation, 'port' | 'origin'>;

export interface TestIngress {
  /** Every line since the stream was opened, without empty ones. */
  readonly lines: readonly TopologyLine[];
  /** Public names that are in effect: those of the lines up to the last `current`. */
  readonly routes: ReadonlyMap<string, TopologyRoute>;
  readonly nodes: ReadonlyMap<string, string>;
  /** Of the last `current`; `null` before the first. */
  revision(): string | null;
  /** Whether it says that a revision is in effect as soon as it is. Default: it does. */
  applies: boolean;
  /** Resolves when what is in effect is as wanted. */
  until(wanted: (ingress: TestIngress) => boolean): Promise<void>;
  /** Resolves when core ended the stream. */
  readonly ended: Promise<void>;
  /** Takes nothing more from its connection. */
  stall(): void;
  close(): void;
}

/** As an Ingress with this credential. */
export function callAs(platform: Platform, credential: string, path: string, body?: unknown): Promise<RawAnswer> {
  return bearer(platform, credential, `/v1/ingress/${path}`, body);
}

/** Opens the stream, and resolves with its first `current`. */
export async function followTopology(
  platform: Platform,
  credential: string,
  options: { readonly after?: string } = {},
): Promise<TestIngress> {
  const ingress = await openTopology(platform, credential, options);
  await ingress.until(({ revision }) => revision() !== null);
  return ingress;
}

/** Opens the stream, and resolves with its head. */
export async function openTopology(
  platform: Platform,
  credential: string,
  { after }: { readonly after?: string } = {},
): Promise<TestIngress> {
  const lines: TopologyLine[] = [];
  const routes = new Map<string, TopologyRoute>();
  const nodes = new Map<string, string>();
  let pending: TopologyLine[] = [];
  let revision: string | null = null;
  const waiting = new Set<() => void>();
  const request = http.get({
    port: platform.port,
    host: '127.0.0.1',
    path: `/v1/ingress/topology${after === undefined ? '' : `?after=${after}`}`,
    headers: { host: new URL(platform.origin).host, authorization: `Bearer ${credential}` },
    agent: false,
  });
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });
  assert.equal(response.statusCode, 200);
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => response.once('close', resolve));

  function take(line: TopologyLine): void {
    lines.push(line);
    if (line.kind !== 'current') {
      pending.push(line);
      return;
    }
    for (const one of pending) apply(one);
    pending = [];
    revision = line.revision;
    if (ingress.applies) void callAs(platform, credential, 'applied', { revision }).catch(() => undefined);
    for (const wake of waiting) wake();
  }

  function apply(line: TopologyLine): void {
    if (line.kind === 'snapshot') {
      routes.clear();
      nodes.clear();
    } else if (line.kind === 'routes') {
      for (const route of line.items) routes.set(route.hostname, route);
      for (const hostname of line.gone) routes.delete(hostname);
    } else if (line.kind === 'nodes') {
      for (const node of line.items) nodes.set(node.nodeId, node.url);
      for (const nodeId of line.gone) nodes.delete(nodeId);
    }
  }

  const reader = createInterface({ input: response }).on('error', () => undefined);
  reader.on('line', (text) => {
    if (text !== '') take(topologyLine.parse(JSON.parse(text)));
  });
  const ingress: TestIngress = {
    lines,
    routes,
    nodes,
    applies: true,
    revision: () => revision,
    until: (wanted) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!wanted(ingress)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        void ended.then(() => reject(new Error('the stream ended before what was waited for')));
        look();
      }),
    ended,
    stall: () => {
      reader.pause();
      response.pause();
    },
    close: () => request.destroy(),
  };
  return ingress;
}
