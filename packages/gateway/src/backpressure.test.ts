// A side that does not read holds the other back: what passes never piles up in the Gateway.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '../test-support/gateway-under-test.ts';
import { open, responseOf, scriptedSetting } from '../test-support/scripted-core.ts';

const setting = scriptedSetting();

const MiB = 1024 * 1024;
const TOTAL = 400 * MiB;
/** What all buffers of the way together may swallow before a sender stalls. */
const UNDER_WAY_AT_MOST = 32 * MiB;
/** Garbage of a few hundred 64 KiB reads waits for the collector; it levels off near 100 MiB however much passes. */
const GROWTH_AT_MOST = 160 * MiB;

interface MeasuredGateway {
  readonly port: number;
  /** Resident bytes now. */
  resident(): Promise<number>;
  stop(): Promise<void>;
}

async function startMeasuredGateway(): Promise<MeasuredGateway> {
  const script = fileURLToPath(new URL('../test-support/gateway-process.ts', import.meta.url));
  const child = spawn(process.execPath, [script, setting.coreOrigin], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const { port }: { port: number } = JSON.parse(String(line));
  return {
    port,
    async resident() {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
    },
    async stop() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}

/** Resolves once `count` has not changed for many turns: the sender has stalled. */
async function untilStalled(count: () => number): Promise<void> {
  let last = -1;
  for (let still = 0; still < 2_000; still = count() === last ? still + 1 : 0) {
    last = count();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a slow reader of 400 MiB holds the sender back instead of filling memory', async (t) => {
  const chunk = Buffer.alloc(256 * 1024, 7);
  let sent = 0;
  setting.handle = (_req, res) => {
    res.writeHead(200, { 'content-length': TOTAL });
    const push = (): void => {
      while (sent < TOTAL) {
        sent += chunk.length;
        if (!res.write(chunk)) {
          res.once('drain', push);
          return;
        }
      }
      res.end();
    };
    push();
  };
  const measured = await startMeasuredGateway();
  t.after(() => measured.stop());
  const before = await measured.resident();
  const response = await responseOf(open({ port: measured.port }).end());
  response.pause();
  await untilStalled(() => sent);
  assert.ok(sent < UNDER_WAY_AT_MOST, `${sent} bytes left the sender unread`);
  assert.ok((await measured.resident()) - before < UNDER_WAY_AT_MOST);
  let received = 0;
  let highest = 0;
  for await (const part of response) {
    received += part.length;
    if (received % (4 * 1024 * 1024) < part.length) highest = Math.max(highest, await measured.resident());
  }
  assert.equal(received, TOTAL);
  assert.ok(highest - before < GROWTH_AT_MOST, `grew by ${highest - before} bytes`);
});

test('a core that does not read holds a 400 MiB upload back, then receives all of it', async (t) => {
  const uploads: IncomingMessage[] = [];
  setting.handle = (req, res) => {
    let received = 0;
    req.on('end', () => res.end(String(received)));
    req.on('data', (part: Buffer) => {
      received += part.length;
    });
    req.pause();
    uploads.push(req);
  };
  const measured = await startMeasuredGateway();
  t.after(() => measured.stop());
  const before = await measured.resident();
  const request = open({ port: measured.port, method: 'PUT', headers: { 'content-length': String(TOTAL) } });
  const chunk = Buffer.alloc(256 * 1024, 7);
  let sent = 0;
  const push = (): void => {
    while (sent < TOTAL) {
      sent += chunk.length;
      if (!request.write(chunk)) {
        request.once('drain', push);
        return;
      }
    }
    request.end();
  };
  push();
  await until(() => uploads.length === 1);
  await untilStalled(() => sent);
  assert.ok(sent < UNDER_WAY_AT_MOST, `${sent} bytes left the sender unread`);
  assert.ok((await measured.resident()) - before < UNDER_WAY_AT_MOST);
  uploads[0]?.resume();
  const response = await responseOf(request);
  let text = '';
  for await (const part of response) text += String(part);
  assert.equal(text, String(TOTAL));
  const grown = (await measured.resident()) - before;
  assert.ok(grown < GROWTH_AT_MOST, `grew by ${grown} bytes`);
});
