// `platform doctor`: looks at what the platform needs of this machine, and says for each what to do.
import { lookup } from 'node:dns/promises';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { GiB, type MemberKind, sizeText } from '@platform/contract';
import { diskSpace, type PlatformConfig } from '@platform/core/config';
import { withConnection } from '@platform/core/database';
import { createLog } from '@platform/core/log';
import { reasonOf, StartError } from '@platform/core/start';
import { gatewaySidecar } from '@platform/gateway/sidecar';
import { probeDriver } from '@platform/runtime';
import { type Command, UsageError, understood } from '../command.ts';
import { shortOfDisk } from '../disk/disk-notice.ts';
import { settingsToCheck } from '../local/configuration.ts';
import { runningParts, withDatabase } from '../local/instance.ts';
import { joinedAs } from '../members/membership.ts';
import { nodeListener } from '../node/listener.ts';
import { type PlannedListener, requireDifferentPorts } from '../process/listeners.ts';
import { requireFreePort } from '../process/running.ts';
import { plannedListeners } from '../supervisor/listeners.ts';
import { say, sayJson } from '../terminal/terminal.ts';
import { accountFindings } from './account-findings.ts';
import { clockFindings } from './clock.ts';
import { AFTER, BEFORE, deepFindings } from './deep/deep.ts';
import { type Finding, isPassing, type Verdict, worstOf } from './finding.ts';
import { firstStartFindings, isBeforeFirstStart } from './first-start-findings.ts';
import { isInUse, memberFindings } from './member-findings.ts';
import { memoryFindings } from './memory-findings.ts';
import { messagingFindings } from './messaging/messaging-findings.ts';
import { modelFindings } from './model-findings.ts';
import { partFindings } from './part-findings.ts';
import { publicFindings } from './public-path/public-findings.ts';
import { releaseFindings } from './release-findings.ts';
import { report, summaryOf } from './report.ts';
import { walletFindings } from './wallet-findings.ts';

export const doctorCommand: Command = {
  summary: 'check this machine and suggest fixes',
  usage: `Usage: ./platform doctor [--deep] [--json]

Checks the parts of a running platform, ports, name resolution, namespaces, control groups, memory, disk, clock, database,
AI providers and the homeserver of messages with the configuration of this environment. Before the first start it also checks
the data folder, and creates nothing. On the machine of an Ingress that runs, it follows the way of a public request: name,
certificate, proxies, buffering, WebSockets. On a machine that joined, it checks what a node or an Ingress needs, and that
core answers.

  --deep   also read all data of the platform on this machine, and change nothing: key files and what they open, every page of
           the database, every package, the file systems of volumes, open files, clocks. On a large platform this takes a while.
  --json   one JSON object, for programs: \`verdict\`, the worst of all (good, warning, bad), and \`items\`

Exits with 1 when something keeps the platform, or a part of it, from working.`,
  async run(args) {
    const { values, positionals } = understood(() =>
      parseArgs({
        args: [...args],
        allowPositionals: true,
        options: { deep: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
      }),
    );
    if (positionals.length > 0) throw new UsageError('Usage: ./platform doctor [--deep] [--json]');
    const config = settingsToCheck();
    const kind = joinedAs(config.dataDirectory);
    const isFirst = isBeforeFirstStart(config);
    const verdicts = new Set<Verdict>();
    const items: Finding[] = [];
    if (isFirst && !values.json)
      say('The platform was not started here yet. What its first start needs, without changing anything:\n');
    for await (const finding of findings(config, { kind, isFirst, deep: values.deep })) {
      if (values.json) items.push(finding);
      else report(finding);
      verdicts.add(finding.verdict);
    }
    const worst = worstOf(verdicts);
    if (values.json) sayJson({ verdict: worst, items }, 2);
    if (values.json) return worst === 'bad' ? 1 : 0;
    const next = isFirst && worst !== 'bad' ? ' Start the platform: ./platform start' : '';
    say(`\n${summaryOf(worst)}${next}`);
    return worst === 'bad' ? 1 : 0;
  },
};

interface Extent {
  readonly kind: MemberKind | null;
  readonly isFirst: boolean;
  readonly deep: boolean;
}

/** A check that fails is a finding too: what it would have seen nobody knows. */
async function* findings(config: PlatformConfig, { kind, isFirst, deep }: Extent): AsyncGenerator<Finding> {
  // Before the first start there is nothing to read.
  const isDeep = deep && !isFirst;
  if (isDeep) yield* deepFindings(config, BEFORE);
  for (const check of checksOf(kind, isFirst))
    yield* await check(config).catch((error: unknown): Finding[] => [
      { check: 'doctor', verdict: isPassing(error) ? 'warning' : 'bad', found: `a check failed (${reasonOf(error)})` },
    ]);
  if (isDeep) yield* deepFindings(config, AFTER[kind ?? 'core']);
}

type Check = (config: PlatformConfig) => Promise<Finding[]>;

/** A machine that joined has neither shell nor database, and an Ingress no backends. */
function checksOf(kind: MemberKind | null, isFirst: boolean): readonly Check[] {
  switch (kind) {
    case 'ingress':
      return [(config) => memberFindings(config, kind), diskFindings, timeFindings, publicFindings];
    case 'node':
      return [
        (config) => memberFindings(config, kind),
        async (config) => [await portFinding(nodeListener(config), isInUse(config.dataDirectory))],
        async (config) => [await nameFinding(config, new URL(config.nodeOrigin).hostname)],
        sandboxFindings,
        memoryFindings,
        diskFindings,
        timeFindings,
      ];
    case null:
      return [
        ...(isFirst ? [firstStartFindings] : []),
        partFindings,
        async ({ dataDirectory }) => releaseFindings(dataDirectory),
        portFindings,
        nameFindings,
        sandboxFindings,
        memoryFindings,
        diskFindings,
        timeFindings,
        clockFindings,
        databaseFindings,
        accountFindings,
        walletFindings,
        modelFindings,
        messagingFindings,
        publicFindings,
      ];
  }
}

/** What is on the way of public requests is looked at there. */
async function portFindings(config: PlatformConfig): Promise<Finding[]> {
  const running = runningParts(config.dataDirectory).length > 0;
  const listeners = plannedListeners(config);
  try {
    requireDifferentPorts(listeners);
  } catch (error) {
    return [{ check: 'port', verdict: 'bad', found: reasonOf(error) }];
  }
  const asPorts = listeners.filter(({ isOnPublicPath }) => isOnPublicPath !== true);
  return Promise.all(asPorts.map((listener) => portFinding(listener, running)));
}

async function portFinding({ variable, host, port, what }: PlannedListener, running: boolean): Promise<Finding> {
  const check = 'port';
  try {
    await requireFreePort(variable, host, port);
    return { check, verdict: 'good', found: `${port} on ${host} is free, for ${what}` };
  } catch (error) {
    if (running)
      return { check, verdict: 'good', found: `${port} is in use, and a platform is running on this data folder` };
    return { check, verdict: 'bad', found: `${port} on ${host} is taken`, cure: reasonOf(error) };
  }
}

async function nameFindings(config: PlatformConfig): Promise<Finding[]> {
  const names = [
    new URL(config.origin).hostname,
    new URL(config.nodeOrigin).hostname,
    `probe--name.${config.appsDomain}`,
  ];
  return Promise.all(names.map((name) => nameFinding(config, name)));
}

async function nameFinding({ appsDomain }: PlatformConfig, name: string): Promise<Finding> {
  const check = 'name';
  try {
    const { address } = await lookup(name);
    return { check, verdict: 'good', found: `${name} is ${address}` };
  } catch (error) {
    if (name.endsWith('.localhost'))
      return {
        check,
        verdict: 'good',
        found: `${name} is known to browsers (the system resolver does not know it; this is harmless)`,
      };
    return {
      check,
      verdict: 'bad',
      found: `${name} does not resolve (${reasonOf(error)})`,
      cure: name.startsWith('probe--')
        ? `Add a wildcard DNS record *.${appsDomain} for this machine.`
        : 'Add a DNS record for this machine.',
    };
  }
}

function probeSandbox(config: PlatformConfig, dataDirectory: string) {
  return probeDriver({
    dataDirectory,
    driver: config.runtimeDriver,
    dockerSocket: config.dockerSocket,
    microvm: config.microvm,
    gatewaySidecar,
    log: createLog('fatal'),
  });
}

/** For trial workloads where there is no data folder yet. */
async function inTrialFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(path.join(tmpdir(), 'platform-doctor-'));
  try {
    // Workloads of root have users of their own.
    chmodSync(folder, 0o711);
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function sandboxFindings(config: PlatformConfig): Promise<Finding[]> {
  const probe = isBeforeFirstStart(config)
    ? await inTrialFolder((folder) => probeSandbox(config, folder))
    : await probeSandbox(config, config.dataDirectory);
  const cure = probe.reasons.join(' ');
  const namespaces: Finding = probe.ok
    ? {
        check: 'namespaces',
        verdict: 'good',
        found: `workloads are isolated with ${probe.mechanism}. ${probe.because.join(' ')}`,
      }
    : {
        check: 'namespaces',
        verdict: 'bad',
        found: 'no sandbox is available, so backends of apps cannot start',
        cure,
      };
  const internet: Finding[] =
    probe.noInternet === undefined
      ? []
      : [
          {
            check: 'internet',
            verdict: 'warning',
            found: `no backend can get internet access: ${probe.noInternet}`,
          },
        ];
  const missing = Object.entries(probe.limits)
    .filter(([, enforced]) => !enforced)
    .map(([name]) => name);
  const groups: Finding =
    missing.length === 0
      ? { check: 'cgroups', verdict: 'good', found: 'limits are enforced through control groups' }
      : {
          check: 'cgroups',
          verdict: 'warning',
          found: `not enforced here: ${missing.join(', ')}`,
          cure: 'Run as root, or in a systemd user session with delegated control groups, to have these limits enforced.',
        };
  return [namespaces, groups, ...internet];
}

async function diskFindings(config: PlatformConfig): Promise<Finding[]> {
  const space = diskSpace(config.dataDirectory);
  const found = `${sizeText(space.freeBytes)} free for ${config.dataDirectory}`;
  const cure = 'Free some space, or set PLATFORM_DATA_DIR to a larger disk.';
  if (space.freeBytes < space.reserveBytes)
    return [{ check: 'disk', verdict: 'bad', found: `${found}. ${shortOfDisk(space)}`, cure }];
  if (space.freeBytes < 5 * GiB)
    return [{ check: 'disk', verdict: 'warning', found, cure: 'Apps and their data will soon need more.' }];
  return [{ check: 'disk', verdict: 'good', found }];
}

/** Sessions, challenges and certificates depend on the time of day. */
async function timeFindings(): Promise<Finding[]> {
  const now = new Date();
  const built = new Date(
    JSON.parse(readFileSync(new URL('../../clock-floor.json', import.meta.url), 'utf8')).notBefore,
  );
  const found = now.toISOString();
  if (now < built) {
    return [
      {
        check: 'clock',
        verdict: 'bad',
        found: `${found} is before this version was made`,
        cure: 'Set the time and enable time synchronisation (for example systemd-timesyncd).',
      },
    ];
  }
  return [{ check: 'clock', verdict: 'good', found }];
}

async function databaseFindings(config: PlatformConfig): Promise<Finding[]> {
  const kind = config.databaseUrl === null ? 'embedded PostgreSQL' : 'PostgreSQL at PLATFORM_DATABASE_URL';
  if (config.databaseUrl === null && isBeforeFirstStart(config))
    return [{ check: 'database', verdict: 'good', found: `${kind}, which the first start makes` }];
  try {
    const version = await withDatabase(config, serverVersion);
    return [{ check: 'database', verdict: 'good', found: `${kind} ${version} answers` }];
  } catch (error) {
    if (error instanceof StartError)
      return [{ check: 'database', verdict: 'bad', found: `${kind} cannot be used`, cure: error.message }];
    const cure = 'Check PLATFORM_DATABASE_URL, and that the server runs and accepts connections from this machine.';
    return [{ check: 'database', verdict: 'bad', found: `${kind} does not answer (${reasonOf(error)})`, cure }];
  }
}

function serverVersion(url: string): Promise<string> {
  return withConnection({ connectionString: url, connectionTimeoutMillis: 5_000 }, async (client) => {
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    return rows[0]?.server_version ?? '';
  });
}
