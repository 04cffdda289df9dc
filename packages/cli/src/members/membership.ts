// What a machine knows of the platform that it belongs to, as a node or as an Ingress: how it joins with the operator's
// token, once, and the file that says so ever after. Nothing in that file is secret.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import {
  type EnrolmentToken,
  ingressCredential,
  joinProofText,
  type MemberKind,
  memberName,
  nodeCredential,
  type Problem,
  readEnrolmentToken,
} from '@platform/contract';
import { reasonOf, StartError, systemCode } from '@platform/core/start';
import {
  fetchOverLink,
  type LinkCertificate,
  type LinkKey,
  linkCertificate,
  publicKeyText,
  readPublicKey,
  signText,
  WrongKeyError,
} from '@platform/link';
import * as z from 'zod';
import { UsageError } from '../command.ts';
import { machineName } from './node-identity.ts';

const membership = z.strictObject({
  coreUrl: z.url(),
  coreHost: z.string(),
  /** Core's link key; `null` where its certificate is vouched for by this machine's authorities, or on loopback. */
  coreKey: z.string().nullable(),
  /** The key that cores prove when they reach this machine. Missing where it joined before there was one. */
  controllerKey: z.string().optional(),
  /** One of the two. */
  nodeId: z.string().optional(),
  ingressId: z.string().optional(),
  name: z.string(),
  /** Of this machine, as core saw it at the joining. */
  address: z.string(),
});
export type Membership = z.infer<typeof membership>;

export interface JoinArguments {
  readonly coreUrl: string;
  readonly token: EnrolmentToken;
  readonly name: string;
}

const CALL_MILLISECONDS = 15_000;

/** As operators read it. */
export const WORDS = { node: 'a node', ingress: 'an Ingress' } as const satisfies Record<MemberKind, string>;

/**
 * What makes the machine of `folder` a member, with `join`'s arguments.
 * @param rejoins it was a member before, with another key
 *
 * @throws StartError `already_joined`, `join_refused`, `membership_unusable`
 */
export async function join(
  kind: MemberKind,
  args: JoinArguments,
  { folder, key, rejoins = false }: { readonly folder: string; readonly key: LinkKey; readonly rejoins?: boolean },
): Promise<Membership> {
  if (!rejoins && readMembership(kind, folder) !== null)
    throw new StartError(
      'already_joined',
      `This data folder belongs to ${WORDS[kind]} already. Run it with \`platform ${kind} start\`, or set PLATFORM_DATA_DIR to another folder.`,
    );
  const joined = await enrol(kind, { ...args, key });
  const file = membershipFile(kind, folder);
  // A crash or a full disk leaves none rather than half of one.
  writeFileSync(`${file}.new`, `${JSON.stringify(joined, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
  return joined;
}

/** @throws StartError `never_joined`, `membership_unusable` */
export function requireMembership(kind: MemberKind, folder: string): Membership {
  const known = readMembership(kind, folder);
  if (known !== null) return known;
  throw new StartError(
    'never_joined',
    `This machine is not ${WORDS[kind]} yet. Get a token on the machine of core with \`platform ${kind} token\`, and join with it.`,
  );
}

/** What the machine of `folder` joined as; `null` where it did not, such as core's own. */
export function joinedAs(folder: string): MemberKind | null {
  const kinds = ['node', 'ingress'] as const;
  return kinds.find((kind) => existsSync(membershipFile(kind, folder))) ?? null;
}

/** It may join again, here or elsewhere, with another token. */
export function forgetMembership(kind: MemberKind, folder: string): void {
  rmSync(membershipFile(kind, folder), { force: true });
}

/** @throws UsageError */
export function joinArguments(kind: MemberKind, args: readonly string[]): JoinArguments {
  const { values, positionals } = (() => {
    try {
      return parseArgs({ args: [...args], options: { name: { type: 'string' } }, allowPositionals: true });
    } catch (error) {
      throw new UsageError(reasonOf(error));
    }
  })();
  const [coreUrl = '', text, ...rest] = positionals;
  if (rest.length > 0 || text === undefined)
    throw new UsageError(`Give the address of core and the token: platform ${kind} join <core-url> <token>`);
  const token = readEnrolmentToken(text, kind);
  if (token === null)
    throw new UsageError(
      `That is not a token for ${WORDS[kind]}, or it is incomplete. Copy the whole command that \`platform ${kind} token\` prints.`,
    );
  const name = values.name ?? machineName();
  if (!memberName.safeParse(name).success)
    throw new UsageError(
      `"${name}" cannot be the name of ${WORDS[kind]}: lower-case letters, digits, single dashes and dots.`,
    );
  return { coreUrl: checkCoreUrl(kind, coreUrl), token, name };
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

function checkCoreUrl(kind: MemberKind, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.pathname !== '/')
    throw new UsageError(`"${value}" is not the address of a core, like https://10.0.0.1:8789.`);
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname))
    throw new UsageError(
      `Over http, anyone on the network path could take over this ${kind === 'node' ? 'node' : 'Ingress'}. Use the https address that \`platform ${kind} token\` prints (PLATFORM_LINK_LISTEN).`,
    );
  return url.origin;
}

async function enrol(
  kind: MemberKind,
  { coreUrl, token, name, key }: JoinArguments & { readonly key: LinkKey },
): Promise<Membership> {
  const body = {
    token: token.secret,
    publicKey: publicKeyText(key.publicKey),
    name,
    signature: signText(key, joinProofText(token.host, token.secret, kind)),
  };
  const certificate = await linkCertificate(key);
  for (const coreKey of coreUrl.startsWith('https:') ? [token.key, null] : [null]) {
    try {
      const answer = await post(`${coreUrl}/v1/${kind}/join`, { host: token.host, coreKey, certificate, body });
      const address = await addressTowards(coreUrl);
      const own = { coreUrl, coreHost: token.host, coreKey, controllerKey: token.key, name, address };
      if (kind === 'node') return { ...own, nodeId: nodeCredential.parse(answer).nodeId };
      return { ...own, ingressId: ingressCredential.parse(answer).ingressId };
    } catch (error) {
      // Behind a proxy core is known by a certificate for its name, which the next attempt demands.
      if (error instanceof WrongKeyError) continue;
      throw error instanceof StartError ? error : unreachable(coreUrl, error);
    }
  }
  throw unreachable(coreUrl, new Error('neither its key nor its certificate matches'));
}

async function post(
  url: string,
  {
    host,
    coreKey,
    certificate,
    body,
  }: {
    readonly host: string;
    readonly coreKey: string | null;
    readonly certificate: LinkCertificate;
    readonly body: object;
  },
): Promise<unknown> {
  const response = await fetchOverLink(url, {
    method: 'POST',
    host,
    key: coreKey === null ? undefined : (readPublicKey(coreKey) ?? undefined),
    certificate,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(CALL_MILLISECONDS),
  });
  const answer: unknown = await response.json();
  if (response.status === 201) return answer;
  const { detail, code } = answer as Partial<Problem>;
  throw new StartError('join_refused', `${detail ?? 'Core refused.'} (${code ?? response.status})`);
}

function unreachable(coreUrl: string, error: unknown): StartError {
  return new StartError(
    'core_unreachable',
    `Core does not answer at ${coreUrl} (${reasonOf(error)}). Check the address, and that no firewall blocks it.`,
  );
}

/** The address of this machine that core sees, which is where core reaches it in turn. */
async function addressTowards(coreUrl: string): Promise<string> {
  const { hostname, port, protocol } = new URL(coreUrl);
  const socket = connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (protocol === 'https:' ? 443 : 80)),
  });
  try {
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return (socket.localAddress ?? '').replace(/^::ffff:/, '');
  } finally {
    socket.destroy();
  }
}

function membershipFile(kind: MemberKind, folder: string): string {
  return path.join(folder, kind, 'membership.json');
}

function readMembership(kind: MemberKind, folder: string): Membership | null {
  let text: string;
  try {
    text = readFileSync(membershipFile(kind, folder), 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
  try {
    return membership.parse(JSON.parse(text));
  } catch {
    throw new StartError(
      'membership_unusable',
      `${membershipFile(kind, folder)} does not say which platform this machine belongs to. Restore it from a backup; or delete it, and join with a token of \`platform ${kind} token\`.`,
    );
  }
}
