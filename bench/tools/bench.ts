// What the hub of tools adds: a call of one of the platform's own tools against a bare server of the official package with one function, a
// tool that an app serves, and a list as long as it may be. Core alone on one core of the machine; the bare server on the same one, while
// core has nothing to do; PostgreSQL, node, backends and the caller on the other.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/client';
import { limits } from '@platform/contract';
import { connectHub } from '../../tests/support/mcp-client.ts';
import { CORE_CPU, startCoreAlone } from '../core-alone.ts';
import { startScript } from '../gateway/processes.ts';
import { atMost, median, percentile, printRow, reported } from '../machine.ts';
import type { ToolsCore } from './server.ts';

const CALLS = 200;
const WARM_UP = 300;
const ROUNDS = 5;
const LISTS = 20;
/** Beyond what the client keeps a list for. */
const LATER_MILLISECONDS = 1_200;

await using bench = await startCoreAlone<ToolsCore>({
  server: new URL('./server.ts', import.meta.url),
  postgres: 'memory',
});
await bench.separate();
await using bare = await startBare();
await using hub = await connectHub(bench.line, bench.line.credential);
const echo = { arguments: { text: 'as people write it' } };
const sides = {
  bare: () => bare.client.callTool({ name: 'echo-0', ...echo }),
  builtIn: () => hub.client.callTool({ name: 'platform-messaging.identity', arguments: {} }),
  served: () => hub.client.callTool({ name: 'one-tool.echo-0', ...echo }),
};
type Side = keyof typeof sides;
const NAMES = Object.keys(sides) as Side[];
for (const side of NAMES) await measure(side, WARM_UP);
const times: Record<Side, number[]> = { bare: [], builtIn: [], served: [] };
// One after the other in each round, so that a moment of the machine meets all of them.
for (let round = 0; round < ROUNDS; round += 1)
  for (const side of NAMES) times[side].push(...(await measure(side, CALLS)));
const [ofBare, ofBuiltIn, ofServed] = [median(times.bare), median(times.builtIn), median(times.served)];
printRow(reported('a bare server of the official package with one function, p50', ofBare, 'ms'));
printRow(reported('a tool of the platform through the hub, p50', ofBuiltIn, 'ms'));
printRow(reported('the same, 99th percentile', percentile(times.builtIn, 99), 'ms'));
printRow(atMost('to the bare server', ofBuiltIn / ofBare, '×', 1.5));
printRow(reported('a tool of an app that runs, through hub, node and sandbox, p50', ofServed, 'ms'));
printRow(atMost('more than a tool of the platform', ofServed - ofBuiltIn, 'ms', 3));
printRow(atMost(`a list of ${limits.toolsPerAccount.value} tools, p50`, median(await lists(hub.client)), 'ms', 20));

async function measure(side: Side, calls: number): Promise<number[]> {
  const taken: number[] = [];
  for (let call = 0; call < calls; call += 1) {
    const begun = performance.now();
    const { isError } = await sides[side]();
    taken.push(performance.now() - begun);
    if (isError === true) throw new Error(`the call of ${side} failed`);
  }
  return taken;
}

/** All pages of it, now and then. */
async function lists(client: Client): Promise<number[]> {
  const taken: number[] = [];
  for (let list = 0; list < LISTS; list += 1) {
    await delay(LATER_MILLISECONDS);
    const begun = performance.now();
    const { tools } = await client.listTools();
    taken.push(performance.now() - begun);
    if (tools.length < limits.toolsPerAccount.value) throw new Error(`only ${tools.length} tools were listed`);
  }
  return taken;
}

async function startBare() {
  const server = await startScript(new URL('./tool-server.ts', import.meta.url), CORE_CPU, []);
  const { client } = await connectHub({ port: server.port, origin: `http://127.0.0.1:${server.port}` }, 'none', {
    path: '/mcp',
  });
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      await server.stop();
    },
  };
}
