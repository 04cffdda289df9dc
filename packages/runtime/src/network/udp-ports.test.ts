// Public UDP ports of workloads: datagrams in and their answers out, the same port after every restart, closed at once.
import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { afterEach, beforeEach, test } from 'node:test';
import type { Assignment } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import { makeAssignment } from '../../test-support/core-double.ts';
import { startTestNode, type TestNode } from '../../test-support/node.ts';
import { makePlace, type Place } from '../../test-support/place.ts';
import { findProgram } from '../find-program.ts';

const skip = findProgram('nsenter') === undefined && 'nsenter is missing (Debian: apt-get install util-linux)';

/** Echoes each datagram with its sender; serves what it knows, and how often 'late' arrived, over HTTP. */
const ECHO = `
  import dgram from 'node:dgram';
  const http = process.getBuiltinModule('node:http');
  const [chosen] = JSON.parse(process.env.PLATFORM_PUBLIC_PORTS_JSON ?? '[]');
  let last;
  let received = 0;
  const socket = dgram.createSocket('udp4');
  socket.on('message', (message, from) => {
    if (String(message) === 'late') received += 1;
    last = from;
    socket.send(message + ' from ' + from.address, from.port, from.address);
  });
  socket.bind(chosen?.containerPort ?? 9000, () => {
    http.createServer((req, res) => {
      if (req.url === '/again') socket.send('unasked', last.port, last.address);
      const { PLATFORM_PUBLIC_HOST: host, PLATFORM_PUBLIC_PORTS_JSON: ports } = process.env;
      res.end(JSON.stringify({ received, host, ports }));
    }).listen(process.env.PORT);
  });
`;

let place: Place;
let node: TestNode | undefined;
let port: number;
const clients: dgram.Socket[] = [];

beforeEach(async () => {
  place = makePlace();
  port = await freePort();
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await node?.close();
  node = undefined;
  place.remove();
});

/** A port that is free now, for one test. */
async function freePort(): Promise<number> {
  const socket = dgram.createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind({ address: '127.0.0.1', port: 0 }, resolve));
  const { port: free } = socket.address();
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return free;
}

async function open(udp: Assignment['udpPorts'], installationId?: string): Promise<[TestNode, Assignment]> {
  const opened = await startTestNode({ place, udp: { host: '127.0.0.1', range: { first: port, last: port } } });
  node = opened;
  const hash = await opened.core.publish({ 'index.mjs': ECHO });
  const assignment = makeAssignment(hash, {
    udpPorts: udp,
    ...(installationId === undefined ? {} : { installationId }),
  });
  opened.core.assign([assignment]);
  return [opened, assignment];
}

async function seen(opened: TestNode, assignment: Assignment, path = '/') {
  const answer = await opened.call(assignment, path);
  assert.equal(answer.status, 200, answer.text);
  return JSON.parse(answer.text) as { received: number; host?: string; ports?: string };
}

async function client(): Promise<dgram.Socket> {
  const socket = dgram.createSocket('udp4');
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.connect(port, '127.0.0.1', () => resolve()));
  if (socket.address().port !== port) {
    clients.push(socket);
    return socket;
  }
  // While the port is closed the kernel may give it to the client itself, which would then answer itself.
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return client();
}

/** Sends until it is answered: a datagram may come before the port is open. */
async function ask(socket: dgram.Socket, text: string): Promise<string> {
  let answer = '';
  socket.on('message', (message) => {
    answer = String(message);
  });
  await until(`an answer to ${text}`, () => {
    if (answer === '') socket.send(text);
    return answer !== '';
  });
  return answer;
}

test('each sender is answered, and the status says where the port is', { skip }, async () => {
  const [opened, assignment] = await open([{ name: 'echo', containerPort: 9_000 }]);
  await seen(opened, assignment);
  const [one, other] = [await client(), await client()];
  assert.equal(await ask(one, 'one'), 'one from 127.0.0.1');
  assert.equal(await ask(other, 'other'), 'other from 127.0.0.1');
  const status = await opened.core.status(assignment.installationId);
  assert.deepEqual(status.publicPorts, [
    { name: 'echo', protocol: 'udp', containerPort: 9_000, host: '127.0.0.1', hostPort: port },
  ]);
  assert.ok(!status.unenforced.some((text) => text.includes('UDP')), status.unenforced.join());
});

test('a port that the platform chooses is in the environment of the workload, and the same after every restart', {
  skip,
}, async () => {
  const [opened, assignment] = await open([{ name: 'voice', containerPort: 'auto' }]);
  const { host, ports } = await seen(opened, assignment);
  const binding = { name: 'voice', protocol: 'udp', containerPort: port, host: '127.0.0.1', hostPort: port };
  assert.equal(host, '127.0.0.1');
  assert.deepEqual(JSON.parse(ports ?? ''), [binding]);
  assert.equal(await ask(await client(), 'hello'), 'hello from 127.0.0.1');
  await opened.close();
  const [again, later] = await open([{ name: 'voice', containerPort: 'auto' }], assignment.installationId);
  assert.deepEqual(JSON.parse((await seen(again, later)).ports ?? ''), [binding]);
  const stranger = makeAssignment(later.packageHash, { udpPorts: [{ name: 'voice', containerPort: 'auto' }] });
  again.core.assign([later, stranger]);
  assert.equal((await seen(again, stranger)).ports, undefined, 'the only port of the range is not given twice');
  const { unenforced } = await again.core.status(stranger.installationId);
  assert.ok(unenforced.some((text) => text.includes('is left for voice: other apps have them all')));
});

test('a revoked port is closed at once while the workload runs on, and a granted one opens', { skip }, async () => {
  const [opened, assignment] = await open([{ name: 'echo', containerPort: 9_000 }]);
  await seen(opened, assignment);
  const former = await client();
  await ask(former, 'before');
  const late: string[] = [];
  // What was asked before may have been asked twice, and be answered for the second time now.
  former.on('message', (message) => {
    if (!String(message).startsWith('before')) late.push(String(message));
  });
  opened.core.assign([{ ...assignment, udpPorts: [] }]);
  const closed = dgram.createSocket('udp4');
  clients.push(closed);
  // Free again means closed.
  await until(
    'the port to be free',
    () =>
      new Promise<boolean>((resolve) => {
        const probe = dgram.createSocket('udp4');
        probe.once('error', () => resolve(false));
        probe.bind({ address: '127.0.0.1', port, exclusive: true }, () => probe.close(() => resolve(true)));
      }),
  );
  await seen(opened, assignment, '/again');
  former.send('late');
  assert.equal((await seen(opened, assignment)).received, 0);
  assert.deepEqual(late, [], 'nor does anything come out');
  assert.equal(opened.core.starts.get(assignment.installationId)?.length, 1, 'it was not restarted');
  opened.core.assign([assignment]);
  assert.equal(await ask(await client(), 'again'), 'again from 127.0.0.1');
  assert.equal(opened.core.starts.get(assignment.installationId)?.length, 1);
});

test('a port that another program has is listed with the reason, and open after the next start', { skip }, async () => {
  const squatter = dgram.createSocket('udp4');
  await new Promise<void>((resolve) => squatter.bind({ address: '127.0.0.1', port, exclusive: true }, resolve));
  const [opened, assignment] = await open([{ name: 'echo', containerPort: 9_000 }]);
  await seen(opened, assignment);
  const status = await until('the port to be listed', async () => {
    const now = await opened.core.status(assignment.installationId);
    return now.publicPorts === undefined ? undefined : now;
  });
  const [listed, ...more] = status.publicPorts ?? [];
  assert.deepEqual([listed?.name, listed?.hostPort, more], ['echo', port, []]);
  assert.match(listed?.closed ?? '', new RegExp(`^Port ${port} of this machine is taken by another program\\.`));
  assert.ok(!status.unenforced.some((text) => text.includes('UDP')), 'it is reported once');
  await new Promise<void>((resolve) => squatter.close(() => resolve()));
  const control = `/installations/${assignment.installationId}`;
  await opened.core.control('POST', `${control}/stop`);
  await opened.core.control('POST', `${control}/start`);
  assert.equal(await ask(await client(), 'late'), 'late from 127.0.0.1');
  const after = await opened.core.status(assignment.installationId);
  assert.deepEqual(after.publicPorts, [
    { name: 'echo', protocol: 'udp', containerPort: 9_000, host: '127.0.0.1', hostPort: port },
  ]);
});

test('without a range nothing is published, and the status says so', { skip }, async () => {
  node = await startTestNode({ place });
  const hash = await node.core.publish({ 'index.mjs': ECHO });
  const assignment = makeAssignment(hash, { udpPorts: [{ name: 'echo', containerPort: 9_000 }] });
  node.core.assign([assignment]);
  assert.equal((await seen(node, assignment)).ports, undefined);
  const { unenforced, publicPorts } = await node.core.status(assignment.installationId);
  assert.equal(publicPorts, undefined);
  assert.ok(unenforced.some((text) => text.includes('PLATFORM_UDP_PORT_RANGE is not set')));
});
