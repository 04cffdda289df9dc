// Tools from Rust: the example program, with the environment of a workload, through a real Gateway and core to the tools of the platform.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { BridgePage, Grant, ShownProposal } from '@platform/contract';
import { openAppGateway } from '../support/app-gateway.ts';
import { registerAccount } from '../support/client.ts';
import { startConstellation } from '../support/constellation.ts';
import { installTestApp } from '../support/installed-app.ts';
import { buildRustPrograms } from '../support/rust.ts';

const run = promisify(execFile);
const RUN_MS = 60_000;
const TOOL = 'platform-notifications.publish';

/** Before the first test, whose limit does not fit a first build. */
const rust = await buildRustPrograms();

test('a program in Rust lists, calls and proposes tools, within its grants', async (t) => {
  if (rust.missing !== null) return t.skip(rust.missing);
  const { program } = rust;
  const world = await startConstellation();
  t.after(() => world.close());
  const ada = await registerAccount(world, 'ada');
  const publish = { id: 'notifications.publish', resources: ['daily'] } satisfies Grant;
  const call = { id: 'mcp.tools.call', resources: [TOOL] } satisfies Grant;
  const propose = { id: 'mcp.tools.propose', resources: [TOOL] } satisfies Grant;
  const gateway = await openAppGateway(world, await installTestApp(world, ada, 'asker', [call, propose, publish]));
  t.after(() => gateway.close());
  /** What the program prints, or how it says that it failed. */
  const tools = (...given: readonly string[]): Promise<string> =>
    run(program('services'), given, { env: gateway.environment, timeout: RUN_MS }).then(
      ({ stdout }) => stdout.trim(),
      (error: { stderr: string }) => error.stderr.trim(),
    );
  const news = (title: string, topic = 'daily') => JSON.stringify({ topic, title, body: '' });

  assert.match(await tools('tools'), /^platform-notifications\.publish [^(]/);
  assert.match(await tools('tool', TOOL, news('Bread')), /^done \{.*Bread/);
  assert.match(await tools('tool', TOOL, news('Bread', 'other')), /^grant_missing: /);
  assert.match(await tools('tool', TOOL, '{}'), /^invalid_request: Invalid arguments: /);
  assert.match(await tools('tool', 'notes.add', '{}'), /^invalid_request: Unknown tool: notes\.add$/);

  const proposed = await tools('propose', TOOL, news('Later'));
  const [, id] = /^(prop-\S+) platform-notifications\.publish waits until \S+$/.exec(proposed) ?? assert.fail(proposed);
  const { items } = await ada.browser.take<BridgePage<ShownProposal>>('/v1/account/proposals?state=pending');
  assert.deepEqual(
    items.map((one) => [one.id, one.arguments.title]),
    [[id, 'Later']],
  );

  const permissions = [propose, publish];
  await ada.browser.take('/v1/apps/asker/permissions', { method: 'PUT', body: { permissions } });
  assert.match(await tools('tools'), /^platform-notifications\.publish \(you approve each call\) /);
  await ada.browser.take('/v1/apps/asker/permissions', { method: 'PUT', body: { permissions: [] } });
  assert.match(await tools('tools'), /^grant_missing: /);
});
