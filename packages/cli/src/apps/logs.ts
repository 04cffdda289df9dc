// `platform logs`: the log of one backend, as it is or as it grows.
import { parseArgs } from 'node:util';
import { appId, limits, logEntry, page, RefusalError } from '@platform/contract';
import { type Command, UsageError, understood } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { inWords, withLocalCore } from '../local/local-core.ts';
import { requireRunning } from '../local/require-running.ts';
import { choosePlatform, ON_OPTION } from '../remote/choose-platform.ts';
import type { Login } from '../remote/logins.ts';
import { RemotePlatform } from '../remote/remote-platform.ts';
import { say, sayJson } from '../terminal/terminal.ts';
import { followLogs, lineOf } from './follow-logs.ts';
import { requireBackend } from './named-backend.ts';

const USUAL_LINES = 200;
const MOST_LINES = limits.workloadLogLines.value;

export const logsCommand: Command = {
  summary: 'show the log of a backend',
  usage: `Usage: ./platform logs <account>/<app> | <installation id> [-f] [-n <lines>]
       ./platform logs <app> --on <address> [-f] [-n <lines>]

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
          ...ON_OPTION,
        },
      }),
    );
    const [name, ...rest] = positionals;
    if (name === undefined || rest.length > 0)
      throw new UsageError('Name one backend: ./platform logs <account>/<app>');
    if (!/^\d{1,6}$/.test(values.lines)) throw new UsageError('-n takes a number of lines.');
    if (values.json && values.follow) throw new UsageError('--json cannot be combined with -f.');
    const newest = Math.min(Number(values.lines), MOST_LINES);
    const login = choosePlatform(values.on);
    if (login !== null) return remoteLogs(login, name, { ...values, newest });
    const config = platformConfiguration();
    await requireRunning(config);
    return withLocalCore(config, async (context) => {
      const { id } = await requireBackend(context, name);
      if (values.follow) {
        const ending = new AbortController();
        const end = () => ending.abort();
        process.once('SIGINT', end).once('SIGTERM', end);
        await followLogs((start, signal) => context.nodes.followLogs(id, start, signal), {
          newest,
          signal: ending.signal,
        });
        return 0;
      }
      if (newest === 0) return 0;
      const { items } = await context.nodes.logs(id, { limit: newest, before: undefined });
      for (const entry of items.reverse()) {
        if (values.json) sayJson(entry);
        else say(lineOf(entry));
      }
      return 0;
    });
  },
};

interface RemoteLogs {
  readonly follow: boolean;
  readonly json: boolean;
  readonly newest: number;
}

/** Of an app that the account published, where it installed it itself. */
async function remoteLogs(login: Login, name: string, { follow, json, newest }: RemoteLogs): Promise<number> {
  const app = appId.safeParse(name);
  if (!app.success) throw new UsageError(`${name} is not the id of an app, such as notes-dev.`);
  const remote = new RemotePlatform(login.origin, login.token);
  if (follow) {
    const ending = new AbortController();
    const end = () => ending.abort();
    process.once('SIGINT', end).once('SIGTERM', end);
    await followLogs((start, signal) => remote.followLogs(app.data, start, signal), { newest, signal: ending.signal });
    return 0;
  }
  if (newest === 0) return 0;
  const { body } = await remote
    .call({ method: 'GET', path: `/v1/apps/${app.data}/logs?limit=${newest}` })
    .catch((error: unknown) => {
      throw error instanceof RefusalError ? inWords(error) : error;
    });
  for (const entry of remote.read(page(logEntry), body).items.reverse()) {
    if (json) sayJson(entry);
    else say(lineOf(entry));
  }
  return 0;
}
