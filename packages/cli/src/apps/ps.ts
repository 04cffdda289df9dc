// `platform ps`: every backend of every account on this platform, with what the running ones use.
import { parseArgs } from 'node:util';
import { type InstallationDetail, RefusalError } from '@platform/contract';
import { type Backend, type CoreContext, listBackends } from '@platform/core/operator';
import { type Command, UsageError, understood } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { runningParts, runningRelease } from '../local/instance.ts';
import { withLocalCore } from '../local/local-core.ts';
import { requireRunning } from '../local/require-running.ts';
import { say, sayJson, terminalWidth } from '../terminal/terminal.ts';
import { type PsRow, partLines, psLines } from './ps-table.ts';

/** Nodes asked at a time. */
const AT_ONCE = 16;

export const psCommand: Command = {
  summary: 'list the parts of the platform and the backends of all accounts',
  usage: `Usage: ./platform ps [<account> | <account>/<app>] [--state <state>] [--node <name>] [--json]

Lists the parts of the platform: since when each runs, how often it was restarted, and why. Then every installed backend:
whose it is, where it runs, its state since when and why, the processors and memory it uses now, and how often it was
restarted after a crash. Those of an account that its owner paused are paused. Processor shares are those since the start
or the last look.
  --state <state>  only backends in this state, such as running, failed or paused
  --node <name>    only backends on this node
  --json           one JSON object with everything that is known, for programs`,
  async run(args) {
    const { values, positionals } = understood(() =>
      parseArgs({
        args: [...args],
        allowPositionals: true,
        options: {
          state: { type: 'string' },
          node: { type: 'string' },
          json: { type: 'boolean', default: false },
        },
      }),
    );
    const [name, ...rest] = positionals;
    if (rest.length > 0) throw new UsageError('Name at most one account or backend: ./platform ps [<account>/<app>]');
    const config = platformConfiguration();
    await requireRunning(config);
    const rows = await withLocalCore(config, async (context) => {
      const wanted = (await listBackends(context)).filter(isWanted({ name, node: values.node }));
      const known = await inParallel(wanted, (backend) => rowOf(context, backend));
      return values.state === undefined ? known : known.filter(({ state }) => state === values.state);
    });
    const isFiltered = name !== undefined || values.state !== undefined || values.node !== undefined;
    const parts = runningParts(config.dataDirectory);
    const shown = { width: terminalWidth(), now: new Date() };
    const { mark: _, ...release } = runningRelease(config.dataDirectory) ?? { version: null, commit: null, mark: '' };
    if (values.json) sayJson({ release, parts, items: rows }, 2);
    else
      for (const line of [...(isFiltered ? [] : [...partLines(parts, shown), '']), ...psLines(rows, shown)]) say(line);
    return 0;
  },
};

/** Of one account, of one app of an account, on one node. */
function isWanted({ name, node }: { readonly name: string | undefined; readonly node: string | undefined }) {
  const [account, appId] = name?.toLowerCase().split('/') ?? [];
  return (backend: Backend): boolean =>
    (account === undefined || backend.account === account) &&
    (appId === undefined || backend.appId === appId) &&
    (node === undefined || backend.node === node);
}

/** What a paused account means for an operator, who cannot end it: docs/decisions/lifecycle.md says why. */
const PAUSED = 'Its owner paused everything and can resume on the paused page of the shell.';

async function rowOf({ nodes }: CoreContext, backend: Backend): Promise<PsRow> {
  const { accountKey: _, since, pausedAt, ...row } = backend;
  const known: PsRow = { ...row, since: since?.toISOString() ?? null, usage: null };
  // One that is at rest uses nothing, and what it last reported still holds.
  if (backend.state === null || backend.state === 'stopped' || backend.state === 'failed')
    return pausedAt === null ? known : { ...known, state: 'paused', since: pausedAt.toISOString(), reason: PAUSED };
  try {
    const { state, since: now, reason, restarts, lastExit, usage }: InstallationDetail = await nodes.status(backend.id);
    return { ...known, state, since: now, reason: reason ?? null, restarts, lastExit, usage };
  } catch (error) {
    if (!(error instanceof RefusalError)) throw error;
    return { ...known, state: 'unknown', reason: error.refusal.detail ?? error.refusal.code };
  }
}

/** The results in the order of the items. */
async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  const worker = async () => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
