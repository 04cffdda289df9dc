// How many requests of the internet wait for one backend to start. The test stands in for the installation and its Gateway.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { until } from '../../../../tests/support/wait.ts';
import { openRaw, type RawConnection } from '../../../http/test-support/raw-exchange.ts';
import type { RunningGateway } from '../gateway-port.ts';
import type { Installation } from '../lifecycle/installation.ts';
import { type HttpServer, startHttpServer } from './http-server.ts';
import { createPublicFront } from './public.ts';

const AT_MOST = 100;
const write = (): void => undefined;

const gateway = {
  forwardPublic: ({ res }: { readonly res: ServerResponse }) => void res.end('served'),
} as unknown as RunningGateway;

/** Starts when the test says so. */
class StartingDouble {
  readonly assignment: object;
  readonly started = Promise.withResolvers<RunningGateway>();
  /** Requests that were let in. */
  reached = 0;

  constructor(hostname: string) {
    this.assignment = { desired: 'automatic', gateway: { public: { hostname, routes: ['GET:/'] } } };
  }

  status() {
    return { state: 'starting' };
  }

  reach(): Promise<RunningGateway> {
    this.reached += 1;
    return this.started.promise;
  }
}

const slow = new StartingDouble('slow.test');
const other = new StartingDouble('other.test');
let server: HttpServer;

before(async () => {
  const doubles = [slow, other] as unknown as Installation[];
  const front = createPublicFront({
    credential: 'pni_waiting',
    find: (hostname) => doubles.find(({ assignment }) => assignment.gateway.public?.hostname === hostname),
    onWake: write,
  });
  server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    isOwnHost: () => true,
    handle: front.handle,
    connect: front.connect,
    log: { debug: write, info: write, warn: write, error: write },
  });
});
after(() => server.close(0));

function ask(host: string): Promise<RawConnection> {
  return openRaw(server.port, `GET / HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer pni_waiting\r\n\r\n`);
}

test('100 requests of an installation wait for its backend, others are refused, and who leaves makes room', async () => {
  const many = await Promise.all(Array.from({ length: AT_MOST + 20 }, () => ask('slow.test')));
  const refused = () => many.filter((connection) => connection.answers().length > 0);
  await until('each to wait or to be refused', () => slow.reached + refused().length === many.length);
  assert.equal(slow.reached, AT_MOST);
  for (const connection of refused()) {
    const [answer] = connection.answers();
    assert.equal(answer?.status, 503);
    assert.match(answer?.head ?? '', /retry-after: [1-9]/i);
    assert.equal(JSON.parse(answer?.body ?? '').code, 'workload_unavailable');
  }
  // Another backend has places of its own.
  const beside = await ask('other.test');
  await until('the other to wait', () => other.reached === 1);
  const waiting = many.filter((connection) => connection.answers().length === 0);
  for (const { socket } of waiting.slice(0, 30)) socket.destroy();
  const late: RawConnection[] = [];
  await until('thirty more to wait', async () => {
    late.push(await ask('slow.test'));
    return slow.reached === AT_MOST + 30;
  });
  for (const double of [slow, other]) double.started.resolve(gateway);
  const left = [...waiting.slice(30), beside];
  await Promise.all(left.map((connection) => connection.until(() => connection.answers().length > 0)));
  assert.deepEqual(new Set(left.map((connection) => connection.answers()[0]?.body)), new Set(['served']));
  for (const { socket } of [...many, ...late, beside]) socket.destroy();
});
