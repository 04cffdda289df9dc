// Runs Schemathesis as one caller over the operations of openapi.json that are for this caller.
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import type { ApiCaller, ApiServer, ApiWorld } from '../../support/api-world.ts';

const OPENAPI = path.join(import.meta.dirname, '../../../packages/contract/openapi.json');
const HOOKS = path.join(import.meta.dirname, 'hooks.py');
const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);
const CHECKS = [
  ...['no_bug', 'status_code_conformance', 'content_type_conformance', 'response_headers_conformance'],
  ...['response_schema_conformance', 'negative_data_rejection', 'unsupported_method', 'allow_header_conformance'],
];
/** Of an event stream, which is read for so long; other answers of the operation take no longer. */
const STREAM_SECONDS = 0.5;

export interface ApiOperation {
  readonly operationId: string;
  readonly path: string;
  readonly method: string;
  readonly server: ApiServer;
  readonly callers: readonly ApiCaller[];
}

interface RawOperation {
  readonly operationId: string;
  readonly servers?: readonly { readonly url: string }[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  parameters?: readonly { readonly $ref?: string }[];
}

interface OpenApi {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
}

const document = async (): Promise<OpenApi> => JSON.parse(await readFile(OPENAPI, 'utf8'));

/** Every operation at every one of its servers. */
export async function everyOperation(): Promise<ApiOperation[]> {
  const { servers: ofAll, paths } = await document();
  return Object.entries(paths).flatMap(([at, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.has(method))
      .flatMap(([method, { operationId, servers = ofAll, security }]) =>
        servers.map(({ url }) => {
          const server = url.slice(1, -1) as ApiServer;
          const named = security.flatMap((one) => Object.keys(one)) as ApiCaller[];
          const callers = named.length === 0 ? (['none'] as const) : named.filter((one) => isServed(one, server));
          return { operationId, path: at, method, server, callers };
        }),
      ),
  );
}

/** A workload speaks to its Gateway alone, and a page to core. */
function isServed(caller: ApiCaller, server: ApiServer): boolean {
  return (server === 'gateway') === (caller === 'installation' || caller === 'providerKey');
}

export interface Run {
  readonly caller: ApiCaller;
  readonly server: ApiServer;
  readonly operations: readonly ApiOperation[];
  /** Of random requests for an operation, beside the fixed ones. */
  readonly examples: number;
  readonly seed: number;
}

export interface Report {
  /** What it printed, with each fault as a command of curl. */
  readonly text: string;
  readonly exitCode: number | null;
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** @param packages Schemathesis, for PYTHONPATH @param folder to work in */
export async function runSchemathesis(
  world: ApiWorld,
  { caller, server, operations, examples, seed }: Run,
  { packages, folder }: { readonly packages: string; readonly folder: string },
): Promise<Report> {
  const work = path.join(folder, `${caller}-${server}-${Date.now()}`);
  await mkdir(work, { recursive: true });
  await writeFile(path.join(work, 'openapi.json'), JSON.stringify(await aboutOperations()));
  await writeFile(path.join(work, 'schemathesis.toml'), await settings(operations));
  const { port, host } = world.servers[server];
  const fields = { host, ...(await world.credentials(caller)) };
  const counted = path.join(work, 'statuses.json');
  // What is passed on is not what the document describes: boundaries of its schemas mean nothing there.
  const phases = server === 'platform' || server === 'gateway' ? 'coverage,fuzzing' : 'fuzzing';
  const program = 'import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())';
  const child = spawn(
    'python3',
    [
      ...['-c', program, '--config-file', 'schemathesis.toml', 'run', 'openapi.json'],
      ...['--url', `http://127.0.0.1:${port}`, '--checks', CHECKS.join(','), '--phases', phases],
      ...['--max-examples', String(examples), '--seed', String(seed), '--workers', '1', '--continue-on-failure'],
      ...['--request-timeout', '30', '--suppress-health-check', 'all', '--no-color', '--warnings', 'off'],
      ...[
        '--generation-database',
        'none',
        '--output-sanitize',
        'false',
        '--report',
        'ndjson',
        '--report-ndjson-path',
        'events',
      ],
      ...operations.flatMap(({ operationId }) => ['--include-operation-id', operationId]),
      ...Object.entries(fields).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ],
    {
      cwd: work,
      env: {
        ...process.env,
        PYTHONPATH: packages,
        SCHEMATHESIS_HOOKS: HOOKS,
        KNOWN_VALUES: JSON.stringify(world.known),
        COLUMNS: '120',
        PYTHONHASHSEED: '0',
        COUNTED_STATUSES: counted,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let text = '';
  const keep = (chunk: Buffer): void => {
    text += chunk;
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve));
  const statuses: Readonly<Record<string, number>> = JSON.parse(await readFile(counted, 'utf8').catch(() => '{}'));
  return { text: text.replaceAll(/^(.{2000}).+$/gm, '$1…'), exitCode, statuses };
}

/**
 * The document with the parameter that names the session on one operation alone: it is the same of all, and most requests
 * would be about nothing else.
 */
async function aboutOperations(): Promise<OpenApi> {
  const whole = await document();
  for (const operation of Object.values(whole.paths).flatMap((item) => Object.values(item)))
    if (operation.operationId !== 'auth.session')
      operation.parameters = (operation.parameters ?? []).filter(({ $ref }) => $ref === undefined);
  return whole;
}

/** A refusal is one whatever its status: what is too large is refused before its schema is looked at. */
const SETTINGS = `[checks]
negative_data_rejection.expected-statuses = ["4xx", "503"]
[generation]
with-security-parameters = false
`;

async function settings(operations: readonly ApiOperation[]): Promise<string> {
  const { paths } = await document();
  const streams = operations.filter(({ path: at, method }) =>
    JSON.stringify(paths[at]?.[method]).includes('text/event-stream'),
  );
  const own = streams.map(
    ({ operationId }) =>
      `[[operations]]\ninclude-operation-id = "${operationId}"\nrequest-timeout = ${STREAM_SECONDS}\n`,
  );
  return [SETTINGS, ...own].join('\n');
}
