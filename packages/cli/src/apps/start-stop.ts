// `platform stop`, and `platform start` with a name: one backend, as its owner would start and stop it.
import { plainLine } from '@platform/contract';
import { type CoreContext, startApp, stopApp } from '@platform/core/operator';
import { type Command, UsageError } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { withLocalCore } from '../local/local-core.ts';
import { requireRunning } from '../local/require-running.ts';
import { complain, paint, say } from '../terminal/terminal.ts';
import { requireBackend } from './named-backend.ts';

export const stopCommand: Command = {
  summary: 'stop one backend until it is started again',
  usage: `Usage: ./platform stop <account>/<app> | <installation id>

Stops the backend as its owner would: it stays down, even when the app is opened, until it is started again in Settings or with
\`./platform start\`. Its data stays. The platform itself ends with Ctrl-C or SIGTERM where it runs.`,
  run: (args) =>
    withBackend('stop', args, async (context, { accountKey, appId, name }) => {
      await stopApp(context, { accountKey, appId }, 'operator');
      say(`${paint('green', '✓')} ${name} is stopped.`);
      return 0;
    }),
};

/** @returns 1 when the backend did not come up, after saying why */
export function startBackend(args: readonly string[]): Promise<number> {
  return withBackend('start', args, async (context, { accountKey, appId, name }) => {
    const { state, reason } = await startApp(context, accountKey, appId);
    if (state === 'running') {
      say(`${paint('green', '✓')} ${name} runs.`);
      return 0;
    }
    complain(`${paint('red', '✗', process.stderr)} ${name} is ${state}. ${plainLine(reason ?? '')}`.trimEnd());
    return 1;
  });
}

interface Named {
  readonly accountKey: string;
  readonly appId: string;
  /** For people. */
  readonly name: string;
}

async function withBackend(
  verb: 'start' | 'stop',
  args: readonly string[],
  work: (context: CoreContext, backend: Named) => Promise<number>,
): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || rest.length > 0 || name.startsWith('-'))
    throw new UsageError(`Name one backend: platform ${verb} <account>/<app>`);
  const config = platformConfiguration();
  await requireRunning(config);
  return withLocalCore(config, async (context) => {
    const { account, accountKey, appId } = await requireBackend(context, name);
    return work(context, { accountKey, appId, name: `${account}/${appId}` });
  });
}
