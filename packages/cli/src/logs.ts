// `platform logs`: the log of one backend, as it is or as it grows.
import { parseArgs } from 'node:util';
import { limits } from '@platform/contract';
import { requireBackend } from './backend.ts';
import { type Command, UsageError } from './command.ts';
import { configuration } from './configuration.ts';
import { followLogs, lineOf } from './follow-logs.ts';
import { withLocalCore } from './local-core.ts';
import { understood } from './package.ts';
import { requireRunning } from './require-running.ts';
import { say, sayJson } from './terminal.ts';

const USUAL_LINES = 200;
const MOST_LINES = limits.workloadLogLines.value;

export const logsCommand: Command = {
  summary: 'show the log of a backend',
  usage: `Usage: platform logs <account>/<app> | <installation id> [-f] [-n <lines>]

Prints the newest lines, oldest of them first; times are UTC. Without -n ${USUAL_LINES}; ${MOST_LINES} are kept.
  -f, --follow  goes on with what is written, until Ctrl-C
  --json        one JSON object on each line: at, stream, line (not with -f)`,
  async run(args) {
    const { values, positionals } = understood(() =>
      parseArgs({
        args: [...args],
        allowPositionals: true,
        options: {
          follow: { type: 'boolean', short: 'f', default: false },
          lines: { type: 'string', short: 'n', default: String(USUAL_LINES) },
          json: { type: 'boolean', default: false },
        },
      }),
    );
    const [name, ...rest] = positionals;
    if (name === undefined || rest.length > 0) throw new UsageError('Name one backend: platform logs <account>/<app>');
    if (!/^\d{1,6}$/.test(values.lines)) throw new UsageError('-n takes a number of lines.');
    if (values.json && values.follow) throw new UsageError('--json cannot be combined with -f.');
    const newest = Math.min(Number(values.lines), MOST_LINES);
    const config = configuration();
    await requireRunning(config);
    return withLocalCore(config, async (context, nodes) => {
      const { id } = await requireBackend(context, name);
      if (values.follow) {
        const ending = new AbortController();
        const end = () => ending.abort();
        process.once('SIGINT', end).once('SIGTERM', end);
        await followLogs(nodes, id, { newest, signal: ending.signal });
        return 0;
      }
      if (newest === 0) return 0;
      const { items } = await nodes.logs(id, { limit: newest, before: undefined });
      for (const entry of items.reverse()) {
        if (values.json) sayJson(entry);
        else say(lineOf(entry));
      }
      return 0;
    });
  },
};
