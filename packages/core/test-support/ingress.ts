// An Ingress as core sees it, for tests of core alone: follows the topology through the real route, remembers what it was
// sent, and applies it when the test wants. The real Ingress is in the whole-system tests.
import assert from 'node:assert/strict';
import http from 'node:http';
import { createInterface } from 'node:readline';
import {
  credentialProofText,
  type IngressCredential,
  joinProofText,
  type MemberChallenge,
  readEnrolmentToken,
  type TopologyLine,
  type TopologyRoute,
  topologyLine,
} from '@platform/contract';
import { type LinkKey, publicKeyText, signText } from '@platform/link';
import { type Constellation, newNodeKey } from '../../../tests/support/constellation.ts';
import type { RawAnswer } from '../../../tests/support/raw-http.ts';
import type { Core } from '../src/app.ts';
import { createIngressToken } from '../src/ingress/ingresses.ts';
import { bearer } from './apps.ts';
import { anonymous } from './joined-node.ts';

export type Platform = Pick<Constellation, 'port' | 'origin'>;

/** The credential of the Ingress on the machine of a core. */
export function localCredential(core: Pick<Core, 'localIngress'>): string {
  return core.localIngress?.ingressCredential ?? assert.fail('this core has no local Ingress');
}

/** What a machine sends to join as an Ingress; `more` replaces members of the body. */
export function joinBody({ origin }: Platform, key: LinkKey, token: string, more: object = {}): object {
  const signature = signText(key, joinProofText(new URL(origin).host, token, 'ingress'));
  return { token, publicKey: publicKeyText(key.publicKey), name: 'ingress', signature, ...more };
}

export async function enrolmentSecret({ core }: Pick<Constellation, 'core'>): Promise<string> {
  const { token } = await createIngressToken(core.context);
  return readEnrolmentToken(token, 'ingress')?.secret ?? assert.fail('the token cannot be read');
}

/** An Ingress of another machine, joined through the real routes. */
export async function joinTestIngress(
  platform: Constellation,
  name: string,
): Promise<IngressCredential & { readonly key: LinkKey }> {
  const key = newNodeKey();
  const body = joinBody(platform, key, await enrolmentSecret(platform), { name });
  const joined = await anonymous(platform, '/v1/ingress/join', body);
  assert.equal(joined.status, 201, joined.text);
  return { ...(joined.json as IngressCredential), key };
}

/** Proves the key and takes the next credential. */
export async function renewIngress(platform: Constellation, key: LinkKey): Promise<IngressCredential> {
  const publicKey = publicKeyText(key.publicKey);
  const challenged = await anonymous(platform, '/v1/ingress/challenge', { publicKey });
  const { nonce } = challenged.json as MemberChallenge;
  const signature = signText(key, credentialProofText(new URL(platform.origin).host, nonce, 'ingress'));
  const answer = await anonymous(platform, '/v1/ingress/credential', { publicKey, nonce, signature });
  assert.equal(answer.status, 200, answer.text);
  return answer.json as IngressCredential;
}

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
