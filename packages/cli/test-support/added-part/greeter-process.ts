// The process of the greeter.
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { openMetrics } from '../../src/process/metrics.ts';
import { runPart } from '../../src/supervisor/run-part.ts';
import type { GreeterOrder, GreeterReport } from './greeter.ts';

runPart<GreeterOrder, GreeterReport>(async ({ port, others, journal, coreOrigin, withMetrics }, started) => {
  const write = async (event: string) => {
    const line = { event, core: await isListening(others.core), node: await isListening(others.node) };
    appendFileSync(journal, `${JSON.stringify(line)}\n`);
  };
  await write('start');
  const server = createServer((request, response) => {
    if (request.url === '/hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    response.end('hello');
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  started.add(async () => {
    await write('end');
    server.close();
    server.closeAllConnections();
  });
  const counted = async () => ({
    text: async () => '# TYPE greeter_greetings_total counter\ngreeter_greetings_total 0',
  });
  const metrics = withMetrics ? await openMetrics('greeter', counted) : undefined;
  return { report: { greets: `whom ${coreOrigin} sends` }, metrics: metrics?.text };
});

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
