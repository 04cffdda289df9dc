// A node for packages that do everything wrong, with a good one on it that must not notice; and how a test reads what
// became of a bad one.
import assert from 'node:assert/strict';
import type { Assignment, InstallationStatus, LogEntry } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import type { RuntimeOptions } from '../../src/runtime.ts';
import { makeAssignment } from '../core-double.ts';
import { startTestNode, type TestNode } from '../node.ts';
import { makePlace } from '../place.ts';

export interface BadNode extends TestNode {
  /** Milliseconds to wait for anything. */
  readonly limit: number;
  /** Installs a package of one file; `workload` replaces members of its manifest. */
  assign(source: string | Buffer, workload?: Readonly<Record<string, unknown>>): Promise<Assignment>;
  statusOf(one: Assignment): Promise<InstallationStatus>;
  /** Waits for a reason, of the state or of the last exit. */
  reason(one: Assignment, wanted: RegExp): Promise<string>;
  /** Waits for a line of its log. */
  line(one: Assignment, wanted: RegExp): Promise<LogEntry>;
  stop(one: Assignment): Promise<void>;
  /** The good one answers, and soon. */
  unharmed(): Promise<void>;
}

/** A backend that answers `fine`. */
export const SERVE = `const http = process.getBuiltinModule('node:http');
http.createServer((_req, res) => res.end('fine')).listen(Number(process.env.PORT));
`;

export interface BadNodeOptions {
  /** How the node chooses its driver. */
  readonly node: Partial<RuntimeOptions>;
  /** Puts into the data folder what is made already. Default: nothing. */
  prepare?(dataDirectory: string): Promise<void>;
  /** As in the conformance suite. Default: 1. */
  readonly timeFactor?: number;
}

export async function startBadNode({ node: options, prepare, timeFactor = 1 }: BadNodeOptions): Promise<BadNode> {
  const place = makePlace();
  await prepare?.(place.folder);
  const node = await startTestNode({ ...options, place });
  const limit = 20_000 * timeFactor;
  const assigned: Assignment[] = [];

  async function assign(
    source: string | Buffer,
    workload: Readonly<Record<string, unknown>> = {},
  ): Promise<Assignment> {
    const hash = await node.core.publish({ 'index.mjs': source });
    const one = makeAssignment(hash, { workload });
    assigned.push(one);
    node.core.assign([...assigned]);
    const path = `/installations/${one.installationId}/status`;
    await until('the assignment to arrive', async () => (await node.core.control('GET', path)).status === 200, limit);
    return one;
  }

  const good = await assign(SERVE);
  await until('the good one to be up', async () => (await node.call(good)).status === 200, limit);

  return {
    ...node,
    limit,
    assign,
    statusOf: (one) => node.core.status(one.installationId),
    reason: (one, wanted) =>
      until(
        `the reason ${wanted}`,
        async () => {
          const status = await node.core.status(one.installationId);
          return [status.reason, status.lastExit?.reason].find((text) => wanted.test(text ?? ''));
        },
        limit,
      ),
    line: (one, wanted) =>
      until(
        `the line ${wanted}`,
        async () =>
          // All that is kept: what an app floods may follow on the line.
          (await node.core.logs(one.installationId, '?limit=1000')).items.find((item) => wanted.test(item.line)),
        limit,
      ),
    async stop(one) {
      await node.core.control('POST', `/installations/${one.installationId}/stop`);
    },
    async unharmed() {
      const begun = performance.now();
      assert.equal((await node.call(good)).text, 'fine');
      assert.ok(performance.now() - begun < 20_000 * timeFactor, 'the good one was kept waiting');
    },
    async close() {
      await node.close();
      place.remove();
    },
  };
}
