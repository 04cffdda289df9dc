// A machine as a node: joining with the operator's token, once, and running as that node ever after.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import {
  type EnrolmentToken,
  joinProofText,
  nodeCredential,
  nodeName,
  type Problem,
  readEnrolmentToken,
} from '@platform/contract';
import type { PlatformConfig } from '@platform/core/config';
import { createLog } from '@platform/core/log';
import { openDataFolder, reasonOf, StartError, systemCode } from '@platform/core/start';
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
import { UsageError } from './command.ts';
import { configuration } from './configuration.ts';
import { openNodeMetrics } from './metrics.ts';
import { nodeConfig } from './node-config.ts';
import { machineName, openNodeIdentity } from './node-identity.ts';
import { startNodeRuntime } from './node-runtime.ts';
import { nodeSides } from './node-sides.ts';
import { requireFreePort, runUntilStopped, Started, stopSignals } from './running.ts';
import { paint, say, step } from './terminal.ts';

/** What this machine remembers of the platform it belongs to. Nothing in it is secret. */
const membership = z.strictObject({
  coreUrl: z.url(),
  coreHost: z.string(),
  /** Core's link key; `null` where its certificate is vouched for by this machine's authorities, or on loopback. */
  coreKey: z.string().nullable(),
  /** The key that cores prove when they reach this machine. Missing where it joined before there was one. */
  controllerKey: z.string().optional(),
  nodeId: z.string(),
  name: z.string(),
  /** Of this machine, as core saw it at the joining. */
  address: z.string(),
});
type Membership = z.infer<typeof membership>;

const CALL_MILLISECONDS = 15_000;

export async function joinNode(args: readonly string[]): Promise<number> {
  const { coreUrl, token, name } = joinArguments(args);
  const config = configuration();
  return run(config, async (folder, key) => {
    if (readMembership(folder) !== null)
      throw new StartError(
        'already_joined',
        `This data folder belongs to a node already. Run it with \`platform node start\`, or set PLATFORM_DATA_DIR to another folder.`,
      );
    const joined = await step('Joining', () => enrol({ coreUrl, token, name, key }));
    writeFileSync(membershipFile(folder), `${JSON.stringify(joined, null, 2)}\n`, { mode: 0o600, flush: true });
    return joined;
  });
}

export async function startJoinedNode(args: readonly string[]): Promise<number> {
  if (args.length > 0) throw new UsageError('platform node start takes no arguments.');
  return run(configuration(), async (folder) => {
    const known = readMembership(folder);
    if (known !== null) return known;
    throw new StartError(
      'never_joined',
      'This machine is not a node yet. Get a token on the machine of core with `platform node token`, and join with it.',
    );
  });
}

function joinArguments(args: readonly string[]): { coreUrl: string; token: EnrolmentToken; name: string } {
  const { values, positionals } = (() => {
    try {
      return parseArgs({ args: [...args], options: { name: { type: 'string' } }, allowPositionals: true });
    } catch (error) {
      throw new UsageError(reasonOf(error));
    }
  })();
  const [coreUrl = '', text = '', ...rest] = positionals;
  const token = readEnrolmentToken(text);
  if (rest.length > 0 || token === null)
    throw new UsageError('Give the address of core and the token: platform node join <core-url> <token>');
  const name = values.name ?? machineName();
  if (!nodeName.safeParse(name).success)
    throw new UsageError(`"${name}" cannot be the name of a node: lower-case letters, digits, single dashes and dots.`);
  return { coreUrl: checkCoreUrl(coreUrl), token, name };
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

function checkCoreUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.pathname !== '/')
    throw new UsageError(`"${value}" is not the address of a core, like https://10.0.0.1:8789.`);
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname))
    throw new UsageError(
      'Over http, anyone on the network path could take over this node. Use the https address that `platform node token` prints (PLATFORM_LINK_LISTEN).',
    );
  return url.origin;
}

async function enrol(options: {
  readonly coreUrl: string;
  readonly token: EnrolmentToken;
  readonly name: string;
  readonly key: LinkKey;
}): Promise<Membership> {
  const { coreUrl, token, name, key } = options;
  const body = {
    token: token.secret,
    publicKey: publicKeyText(key.publicKey),
    name,
    signature: signText(key, joinProofText(token.host, token.secret)),
  };
  const certificate = await linkCertificate(key);
  for (const coreKey of coreUrl.startsWith('https:') ? [token.key, null] : [null]) {
    try {
      const { nodeId } = nodeCredential.parse(await post(coreUrl, { host: token.host, coreKey, certificate, body }));
      const address = await addressTowards(coreUrl);
      return { coreUrl, coreHost: token.host, coreKey, controllerKey: token.key, nodeId, name, address };
    } catch (error) {
      // Behind a proxy core is known by a certificate for its name, which the next attempt demands.
      if (error instanceof WrongKeyError) continue;
      throw error instanceof StartError ? error : unreachable(coreUrl, error);
    }
  }
  throw unreachable(coreUrl, new Error('neither its key nor its certificate matches'));
}

async function post(
  coreUrl: string,
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
  const response = await fetchOverLink(`${coreUrl}/v1/node/join`, {
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

async function run(
  config: PlatformConfig,
  belong: (folder: string, key: LinkKey) => Promise<Membership>,
): Promise<number> {
  const log = createLog(config.logLevel);
  const stopRequested = stopSignals();
  const started = new Started();
  return runUntilStopped(started, async () => {
    const folder = openDataFolder(config.dataDirectory);
    started.add(() => folder.close());
    await requireFreePort('PLATFORM_NODE_ORIGIN', config.listenHost, config.nodePort);
    const { key } = openNodeIdentity(folder.path);
    const member = await belong(folder.path, key);
    const coreKey = member.coreKey === null ? null : readPublicKey(member.coreKey);
    const controllerKey = readPublicKey(member.controllerKey ?? member.coreKey ?? '');
    const sides = await nodeSides(config, { ...member, coreKey, controllerKey });
    const metrics = await openNodeMetrics(config, started);
    const removed = Promise.withResolvers<string>();
    const runtime = await step('Runtime', () =>
      startNodeRuntime(nodeConfig(config), {
        dataDirectory: folder.path,
        coreOrigin: member.coreUrl,
        coreHost: member.coreHost,
        ...(coreKey === null ? {} : { coreKey }),
        ...(controllerKey === null ? {} : { controllerKey }),
        key,
        ...sides.over,
        onRemoved: () => removed.resolve('removed'),
        log,
        metrics: metrics.node,
      }),
    );
    started.add(() => runtime.stop());
    greet(config, member, runtime.sandbox, sides.shown);
    void runtime.registered.then(() => say('  Core knows this node.\n'));
    const ended = await Promise.race([stopRequested, removed.promise]);
    if (ended !== 'removed') return { why: ended, code: 0 };
    // It may join again, here or elsewhere, with another token.
    rmSync(membershipFile(folder.path), { force: true });
    return { why: 'this machine was removed from the platform', code: 1 };
  });
}

function greet(config: PlatformConfig, member: Membership, sandbox: string, control: string): void {
  const lines = [
    '',
    `  ${paint('bold', 'The node is running.')}`,
    '',
    `  Name         ${member.name}`,
    `  Core         ${paint('cyan', member.coreUrl)}`,
    `  Control      ${control}`,
    `  Backends at  ${config.nodeOrigin}`,
    `  Data folder  ${config.dataDirectory}`,
    `  Workloads    ${sandbox}`,
    '',
  ];
  say(lines.join('\n'));
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

function membershipFile(folder: string): string {
  return path.join(folder, 'node', 'membership.json');
}

function readMembership(folder: string): Membership | null {
  let text: string;
  try {
    text = readFileSync(membershipFile(folder), 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
  return membership.parse(JSON.parse(text));
}
