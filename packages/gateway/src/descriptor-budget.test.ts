// Gateways of one process share its file descriptors: greedy ones take nothing from the others, nor from what is
// around.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openRaw } from '../../http/test-support/raw-exchange.ts';
import { ask } from '../test-support/gateway-under-test.ts';
import { AUTHORIZED, SERVICE, scriptedSetting } from '../test-support/scripted-core.ts';
import { type DescriptorShare, openDescriptorBudget } from './descriptor-budget.ts';

const setting = scriptedSetting();
const PROCESS_LIMIT = 512;

function takeAll(share: DescriptorShare): number {
  for (let taken = 0; ; taken += 1) {
    share.begin();
    if (!share.isOver()) continue;
    share.end();
    return taken;
  }
}

test('one greedy Gateway gets a fifth, and however many there are, the next still gets something', () => {
  const budget = openDescriptorBudget(2_000);
  const first = budget.open();
  assert.equal(takeAll(first), 200);
  const taken = Array.from({ length: 9 }, () => takeAll(budget.open()));
  assert.ok(
    taken.every((many, index) => many >= 4 && many <= (taken[index - 1] ?? 200)),
    taken.join(' '),
  );
  assert.ok(taken.reduce((sum, many) => sum + many, 200) < 1_000);
  for (let n = 0; n < 200; n += 1) first.end();
  assert.ok(takeAll(budget.open()) > (taken.at(-1) ?? 0), 'what is given back is there for others');
});

interface ManyGateways {
  readonly ports: readonly number[];
  descriptors(): number;
}

async function startMany(t: TestContext, count: number): Promise<ManyGateways> {
  const script = fileURLToPath(new URL('../test-support/gateway-process.ts', import.meta.url));
  const limit = `--nofile=${PROCESS_LIMIT}:${PROCESS_LIMIT}`;
  const child = spawn('prlimit', [limit, '--', process.execPath, script, setting.coreOrigin, String(count)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(async () => {
    child.stdin.end();
    await once(child, 'exit');
  });
  const [line] = await once(child.stdout, 'data');
  const { ports }: { ports: number[] } = JSON.parse(String(line));
  return { ports, descriptors: () => readdirSync(`/proc/${child.pid}/fd`).length };
}

test('workloads that open whatever they can leave every other Gateway its connections', async (t) => {
  const { ports, descriptors } = await startMany(t, 9);
  const [quiet = 0, ...greedy] = ports;
  const idle = descriptors();
  const sockets: Socket[] = [];
  t.after(() => sockets.forEach((socket) => void socket.destroy()));
  for (const port of greedy) {
    const kept = await Promise.all(
      Array.from({ length: 150 }, () => {
        const socket = connect({ port, host: '127.0.0.1' });
        sockets.push(socket);
        socket.on('error', () => undefined);
        // Refused without the credential, on a connection that is kept: so it is known which there are.
        socket.write(`GET ${SERVICE} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`);
        return new Promise<boolean>((resolve) => {
          socket.once('data', () => resolve(true));
          socket.once('close', () => resolve(false));
        });
      }),
    );
    const many = kept.filter(Boolean).length;
    assert.ok(many >= 4 && many < 150, `${many} of 150 connections`);
  }
  assert.ok(descriptors() - idle <= PROCESS_LIMIT / 2, `${descriptors() - idle} descriptors are held`);
  assert.equal((await ask(quiet, { path: SERVICE })).status, 200);
});

test('pipelined requests have a share too, and further ones are refused with the reason', async (t) => {
  const waiting: ServerResponse[] = [];
  const release = (res: ServerResponse) => void res.end('fine');
  setting.handle = (req, res) => void (req.headers['x-quiet'] === undefined ? waiting.push(res) : release(res));
  const { ports, descriptors } = await startMany(t, 2);
  const [greedy = 0, quiet = 0] = ports;
  const idle = descriptors();
  const line = `GET ${SERVICE} HTTP/1.1\r\nHost: localhost:${greedy}\r\nAuthorization: ${AUTHORIZED.authorization}\r\n\r\n`;
  const connections = await Promise.all(Array.from({ length: 4 }, () => openRaw(greedy, '')));
  for (const { socket } of connections) socket.write(line.repeat(30));
  t.after(() => connections.forEach(({ socket }) => void socket.destroy()));
  // The last connection finds nothing left of the share, so its answers wait for no other.
  const last = connections.at(-1);
  await last?.until(() => last.answers().length === 30);
  assert.equal((await ask(quiet, { path: SERVICE, headers: { 'x-quiet': '1' } })).body, 'fine');
  assert.ok(descriptors() - idle < PROCESS_LIMIT / 4, `${descriptors() - idle} descriptors are held`);
  setting.handle = (_req, res) => release(res);
  waiting.forEach(release);
  await Promise.all(connections.map((connection) => connection.until(() => connection.answers().length === 30)));
  const refused = connections
    .flatMap((connection) => connection.answers())
    .filter(({ body }) => body.includes('concurrency_limited'));
  assert.ok(refused.length >= 30, `${refused.length} of 120 were refused`);
});
