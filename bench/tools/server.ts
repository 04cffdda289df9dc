// The real core on a database that is already there, a real node, and an app that serves tools; prints where, and as whom to call them.
import { fileURLToPath } from 'node:url';
import { limits } from '@platform/contract';
import { registerAccount } from '../../tests/support/client.ts';
import { startConstellation } from '../../tests/support/constellation.ts';
import { installTestApp } from '../../tests/support/installed-app.ts';
import { publishTestApp } from '../../tests/support/publish.ts';
import { startRealNode } from '../../tests/support/real-node.ts';
import { bundleWorkload } from '../../tests/system/tools/bundle-workload.ts';

export interface ToolsCore {
  readonly port: number;
  readonly origin: string;
  /** Core service credential of an app that may use all tools. */
  readonly credential: string;
}

const world = await startConstellation();
const node = await startRealNode(world, { credential: world.core.localNode.nodeCredential });
const account = await registerAccount(world, 'bench');
const main = await bundleWorkload(fileURLToPath(new URL('./tool-server.ts', import.meta.url)));
for (const [appId, tools] of [
  ['one-tool', 1],
  ['all-tools', limits.toolsPerAccount.value - 1],
] as const) {
  const workload = { runtime: 'node', entry: 'main.mjs', mcp: { path: '/mcp' }, resources: { memoryMiB: 256 } };
  const permissions = [{ id: 'mcp.tools.serve', resources: ['self'] }];
  const files = { 'workload/main.mjs': `process.env.TOOLS = '${tools}';\n${main}`, 'frontend/index.html': '' };
  await publishTestApp(account, appId, { workload, permissions }, files);
  await account.browser.take('/v1/apps', { body: { appId } });
}
const { credential } = await installTestApp(world, account, 'asker', [
  { id: 'mcp.tools.call', resources: ['one-tool.*', 'all-tools.*', 'platform-messaging.identity'] },
  { id: 'messaging.read', resources: ['*'] },
]);
const line: ToolsCore = { port: world.port, origin: world.origin, credential };
process.stdout.write(`${JSON.stringify(line)}\n`);
process.once('SIGTERM', async () => {
  await node.stop();
  await world.close();
});
