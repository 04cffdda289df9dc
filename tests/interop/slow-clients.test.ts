// slowhttptest against an Ingress with the limits that it has by default: while hundreds of connections send slowly or read
// slowly, another client of the same app is answered as before.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { defaultLimits } from '@platform/ingress';
import {
  HOSTNAME,
  routeOf,
  startUnderTest,
  type UnderTest,
} from '../../packages/ingress/test-support/ingress-under-test.ts';
import { lacksProgram } from '../support/lacks-program.ts';
import { until } from '../support/wait.ts';

const CONNECTIONS = 400;
/** Of them, when the others begin to ask: fewer than the burst of a client. */
const SLOW = 10;
/** Of the neighbour beside each attack; all of them together are within the burst that one client has. */
const REQUESTS = 10;
/** Another client than slowhttptest, for the rate. */
const NEIGHBOUR = '127.0.0.2';

/** Of /proc/net/tcp. */
const ESTABLISHED = '01';

const ATTACKS = {
  'slow heads (slowloris)': ['-H', '-i', '5'],
  'slow bodies': ['-B', '-i', '5', '-s', '8192'],
  'slow long bodies': ['-B', '-i', '5', '-s', '1000000'],
  'slow reading': ['-X', '-w', '512', '-y', '1024', '-n', '5', '-z', '32'],
} as const;

describe('while a client is slow', { skip: lacksProgram('slowhttptest') }, () => {
  let tested: UnderTest;
  before(async () => {
    tested = await startUnderTest({
      limits: defaultLimits,
      lines: (node) => [
        { kind: 'nodes', items: [node], gone: [] },
        { kind: 'routes', items: [routeOf(['GET:/*', 'POST:/*'])], gone: [] },
      ],
    });
    const long = Buffer.alloc(8 * 1_024 * 1_024, 'x');
    tested.node.handle = (req, res) => {
      req.on('error', () => undefined).resume();
      res.end(req.url === '/long' ? long : 'ok');
    };
  });
  after(() => tested.close());

  /** Connections of the attack, as the kernel sees them. */
  function open(): number {
    const at = `:${tested.port.toString(16).toUpperCase().padStart(4, '0')}`;
    const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n');
    return rows.filter((row) => row.split(/\s+/)[2]?.endsWith(at) === true && row.split(/\s+/)[4] === ESTABLISHED)
      .length;
  }

  function ask(): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    http
      .get(
        {
          host: '127.0.0.1',
          port: tested.port,
          path: '/',
          headers: { host: HOSTNAME },
          localAddress: NEIGHBOUR,
          agent: false,
        },
        (res) => resolve(res.resume().statusCode ?? 0),
      )
      .on('error', reject);
    return promise;
  }

  for (const [name, options] of Object.entries(ATTACKS))
    test(`${name}: another client of the app is answered`, async () => {
      const url = `http://${HOSTNAME}:${tested.port}/long`;
      const proxy = ['-d', `127.0.0.1:${tested.port}`];
      const sizes = ['-c', String(CONNECTIONS), '-r', '200', '-l', '60', '-u', url];
      const attack = spawn('slowhttptest', [...options, ...sizes, ...proxy], { stdio: 'ignore' });
      const ended = once(attack, 'exit');
      try {
        await until('the attack to have begun', () => open() >= SLOW);
        for (let asked = 0; asked < REQUESTS; asked += 1) assert.equal(await ask(), 200);
      } finally {
        attack.kill();
        await ended;
      }
    });
});
