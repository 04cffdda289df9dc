// A machine that joined with a token and means harm: what it says of itself and of its backends is shown to people, and
// browsers are sent to the origin that it reports.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type LogEntry, limits, type NodeMachine, plainText, type WorkloadDetail } from '@platform/contract';
import { listNodes } from '@platform/core/operator';
import {
  bearer,
  install,
  installationRow,
  launch,
  nodeWorkload,
  publish,
} from '../../packages/core/test-support/apps.ts';
import {
  type JoinedNode,
  joinTestNode,
  registerLocalMachine,
  testMachine,
} from '../../packages/core/test-support/joined-node.ts';
import {
  type ControlAnswer,
  controlCredential,
  type NodeDouble,
  startNodeDouble,
  statusOf,
} from '../../packages/core/test-support/node-double.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { freePort } from '../support/free-port.ts';
import { problemCode, type RawAnswer, rawRequest } from '../support/raw-http.ts';

/** Changes the title, writes to the clipboard, erases the screen, in C0 and C1; reverses, hides, and is half a pair. */
const HARMFUL =
  'a\u001b]0;title\u0007b\u001b]52;c;ZXZpbA==\u0007c\u001b[2Jd\u009b31me\u202ef\u2066g\u2028h\r\ni\u0000j\ud800k\u007fl';

let platform: Constellation;
let double: NodeDouble;
let usual: NodeDouble['answer'];
let hostile: JoinedNode;
let account: TestAccount;

before(async () => {
  platform = await startConstellation();
  double = await startNodeDouble(platform);
  usual = double.answer;
  account = await registerAccount(platform, 'victim');
  await publish(account, 'near', { workload: nodeWorkload });
  await publish(account, 'far', { workload: nodeWorkload });
  await install(account, 'near');
  hostile = await joinTestNode(platform, 'hostile', { labels: ['platform-hosted'], machine: { memoryMiB: 1_000_000 } });
  await platform.core.context.pool.query("UPDATE nodes SET cordoned_at = now() WHERE name = 'local'");
  await install(account, 'far');
});
beforeEach(() => {
  double.answer = usual;
});
after(async () => {
  await platform.close();
  await double.close();
});

/** No character anywhere in it could steer a terminal, break a line or reverse one. */
function assertPlain(value: unknown, where: string): void {
  if (typeof value === 'string')
    assert.ok(value === plainText(value) && !value.includes('\n'), `${where}: ${JSON.stringify(value)}`);
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) assertPlain(member, `${where}.${name}`);
}

function register(addresses: { readonly inboundOrigin?: string; readonly controlUrl?: string }): Promise<RawAnswer> {
  return hostile.call('/v1/node/register', {
    controlUrl: 'https://127.0.0.1:9/control',
    controlCredential,
    inboundOrigin: 'https://hostile.example',
    machine: testMachine,
    ...addresses,
  });
}

function assertRefused(answer: RawAnswer, says: RegExp): void {
  assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request'], answer.text);
  assert.match((answer.json as { detail: string }).detail, says);
}

test('what it reports of a backend is kept as plain sentences, each of bounded length', async () => {
  const { id } = await installationRow(platform, account, 'far');
  const sentence = HARMFUL + '😀'.repeat(limits.nodeSentence.value);
  const item = {
    installationId: id,
    state: 'failed',
    since: '2026-11-21T10:00:00.000Z',
    reason: sentence,
    restarts: Number.MAX_SAFE_INTEGER,
    lastExit: { at: '2026-11-21T10:00:00.000Z', reason: sentence },
    unenforced: Array.from({ length: 1_000 }, () => HARMFUL),
    publicPorts: [{ name: HARMFUL, protocol: 'udp', containerPort: 1, host: HARMFUL, hostPort: 1, closed: HARMFUL }],
  };
  const reported = await hostile.call('/v1/node/status', { items: [item] });
  assert.equal(reported.status, 204, reported.text);
  const { rows } = await platform.core.context.pool.query(
    'SELECT reason, last_exit, unenforced FROM installation_status WHERE installation_id = $1',
    [id],
  );
  assert.equal(rows.length, 1);
  assertPlain(rows, 'installation_status');
  const [{ reason, unenforced }] = rows as [{ reason: string; unenforced: string[] }];
  assert.ok(reason.length <= limits.nodeSentence.value && reason.isWellFormed());
  assert.equal(unenforced.length, limits.nodeSentences.value);
});

test('what it says of itself is refused unless it is plain', async () => {
  for (const member of ['driver', 'mechanism', 'version'] as const satisfies readonly (keyof NodeMachine)[]) {
    const answer = await hostile.call('/v1/node/register', {
      controlUrl: 'https://127.0.0.1:9/control',
      controlCredential,
      inboundOrigin: 'https://hostile.example',
      machine: { ...testMachine, [member]: 'a\u001b[31mb' },
    });
    assert.equal(answer.status, 400, member);
  }
  assertPlain(await listNodes(platform.core.context), 'nodes');
});

test('what it answers core with reaches the owner as plain sentences and lines', async () => {
  const near = '/v1/apps/near';
  const answers: Readonly<Record<string, ControlAnswer>> = {
    'a log': {
      body: { items: [{ at: '2026-11-21T10:00:00.000Z', stream: 'stdout', line: HARMFUL }], before: null },
    },
    'a log line that is too long': {
      body: {
        items: [{ at: '2026-11-21T10:00:00.000Z', stream: 'stdout', line: 'x'.repeat(1_000_000) }],
        before: null,
      },
    },
  };
  for (const [what, answer] of Object.entries(answers)) {
    double.answer = () => answer;
    const logs = await account.fetch(`${near}/logs`);
    assert.equal(logs.status, 200, `${what}: ${logs.text}`);
    const { items } = logs.json as { items: LogEntry[] };
    assert.equal(items.length, 1);
    assertPlain(items, what);
    assert.ok((items[0]?.line.length ?? 0) <= limits.workloadLogLine.value + 1, what);
  }

  const port = {
    name: HARMFUL,
    protocol: 'udp',
    containerPort: 1,
    host: HARMFUL,
    hostPort: 1,
    closed: HARMFUL,
  } as const;
  double.answer = (call) => ({ body: statusOf(call, { state: 'failed', reason: HARMFUL, publicPorts: [port] }) });
  const status = (await account.browser.take<WorkloadDetail>(`${near}/status`)) satisfies WorkloadDetail;
  assertPlain(status, 'status');
  assert.match(status.reason ?? '', /^a.*l$/);

  double.answer = () => ({ status: 503, body: { code: 'workload_unavailable', detail: HARMFUL } });
  const refused = await account.fetch(`${near}/start`, { body: {} });
  assert.equal(problemCode(refused), 'workload_unavailable');
  assertPlain(refused.json, 'refusal');
  assert.match((refused.json as { detail: string }).detail, /^a.*l$/);
});

test('the lines of a log stream are plain as well', async () => {
  const stream = double.stream();
  double.answer = () => stream.answer;
  const line = { at: '2026-11-21T10:00:00.000Z', stream: 'stdout', line: HARMFUL };
  stream.write(JSON.stringify({ items: [line], last: 1, missed: 0, before: null }));
  const nodes = platform.core.context.nodes;
  const { id } = await installationRow(platform, account, 'near');
  const ending = new AbortController();
  for await (const piece of await nodes.followLogs(id, { newest: 10 }, ending.signal)) {
    assertPlain(piece, 'piece');
    break;
  }
  ending.abort();
  stream.end();
});

test('an origin or control address of the platform, or of another node, is refused and said to the operator', async () => {
  await registerLocalMachine(platform, {});
  const other = await joinTestNode(platform, 'honest');
  const { config } = platform.core.context;
  const port = new URL(config.origin).port;
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ inboundOrigin: config.origin }, /the host of the shell/],
    [{ inboundOrigin: `https://shell.platform.localhost:9999` }, /the host of the shell/],
    [{ inboundOrigin: `http://shell.platform.localhost.:${port}` }, /the host of the shell/],
    [{ inboundOrigin: 'http://below.shell.platform.localhost' }, /below shell\.platform\.localhost/],
    [{ inboundOrigin: 'http://apps.platform.localhost:8788' }, /apps\.platform\.localhost, where only apps are/],
    [{ inboundOrigin: 'http://notes--abc.apps.platform.localhost' }, /where only apps are/],
    [{ inboundOrigin: config.nodeOrigin }, /belongs to the node local/],
    [{ inboundOrigin: 'https://honest.example' }, /belongs to the node honest.*platform node remove honest/],
    [{ controlUrl: 'https://shell.platform.localhost:9/control' }, /the host of the shell/],
  ];
  for (const [addresses, says] of cases) {
    const before = platform.log.length;
    assertRefused(await register(addresses), says);
    const said = platform.log.slice(before).filter(({ level }) => level === 'warn');
    assert.match(JSON.stringify(said), says, 'in the log of core');
  }
  assert.equal((await register({})).status, 204, 'its own it keeps');
  assert.equal((await register({})).status, 204, 'again');
  assert.equal((await other.heartbeat()).status, 200);
});

test('the machine of core takes its origin back from a node that has it', async () => {
  const { config, pool } = platform.core.context;
  await pool.query('UPDATE nodes SET inbound_origin = NULL');
  assert.equal((await register({ inboundOrigin: config.nodeOrigin })).status, 204);
  await registerLocalMachine(platform, {});
  const { rows } = await pool.query<{ name: string; inbound_origin: string | null }>(
    "SELECT name, inbound_origin FROM nodes WHERE name IN ('local', 'hostile') ORDER BY name",
  );
  assert.deepEqual(rows, [
    { name: 'hostile', inbound_origin: null },
    { name: 'local', inbound_origin: config.nodeOrigin },
  ]);
  const refused = await account.fetch('/v1/apps/far/launch', { body: {} });
  assert.equal(problemCode(refused), 'workload_unavailable', 'it has no origin, and gets nobody else’s');
});

test('few of its requests for assignments wait at a time, since each reads all after every change of anybody’s', async () => {
  const other = await joinTestNode(platform, 'patient');
  const revisionOf = async (node: JoinedNode) => {
    const { revision } = (await node.call('/v1/node/assignments')).json as { revision: string };
    return `/v1/node/assignments?after=${revision}`;
  };
  const [path, others] = [await revisionOf(hostile), await revisionOf(other)];
  const POLLS = 64;
  const polls = Array.from({ length: POLLS }, () => hostile.call(path));
  // The first that are answered are those that are refused.
  const first = await Promise.race(polls);
  assert.deepEqual([first.status, problemCode(first)], [429, 'concurrency_limited']);
  const waits = other.call(others);
  await account.fetch('/v1/apps/far/stop', { body: {} });
  await publish(account, 'further', { workload: nodeWorkload });
  await install(account, 'further');
  const answers = await Promise.all(polls);
  const refused = answers.filter(({ status }) => status === 429).length;
  assert.ok(refused >= POLLS / 2 && refused < POLLS, `${refused} of ${POLLS} were refused`);
  await account.fetch('/v1/apps/further', { method: 'DELETE' });
  await account.fetch('/v1/apps/far/start', { body: {} });
  assert.equal((await waits).status, 200, 'another node has its own');
});

test('the address at which core takes nodes is no address of a node', async () => {
  const link = { host: '127.0.0.1', port: await freePort() };
  const replica = await platform.replica({ linkListen: link });
  const there = { port: replica.port, origin: replica.context.config.origin };
  for (const addresses of [
    { inboundOrigin: `https://127.0.0.1:${link.port}` },
    { controlUrl: `https://127.0.0.1:${link.port}/control` },
  ]) {
    const body = {
      controlUrl: 'https://127.0.0.1:9/control',
      controlCredential,
      inboundOrigin: 'https://hostile.example',
      ...addresses,
    };
    assertRefused(await bearer(there, hostile.credential(), '/v1/node/register', body), /core takes nodes/);
  }
});

test('an origin that was stored before is not used when it is the platform’s, in launches nor in policies', async () => {
  assert.equal((await register({})).status, 204);
  const { backend, origin } = await launch(account, 'far');
  assert.match(ticketOf(backend?.endpointTicket), /^https:\/\/hostile\.example\/e\//);
  await platform.core.context.pool.query('UPDATE nodes SET inbound_origin = $1 WHERE name = $2', [
    'http://evil.apps.platform.localhost',
    'hostile',
  ]);
  const refused = await account.fetch('/v1/apps/far/launch', { body: {} });
  assert.equal(problemCode(refused), 'workload_unavailable', refused.text);
  const replica = await platform.replica();
  const host = new URL(origin).host.replace(/:\d+$/, `:${replica.port}`);
  const page = await rawRequest({ port: replica.port, path: '/', headers: { host } });
  assert.equal(page.status, 200, page.text);
  assert.doesNotMatch(String(page.headers['content-security-policy']), /evil/);
  assert.match(JSON.stringify(platform.log), /the origin of a node is not used/);
});

function ticketOf(ticket: string | undefined): string {
  const payload = ticket?.slice('pet1.'.length) ?? assert.fail('no ticket');
  return (JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { url: string }).url;
}
