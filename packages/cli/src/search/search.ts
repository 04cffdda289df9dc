// `platform search …`: the operator looks after the index of OpenSearch that takes searches off PostgreSQL.
import { feedStatus, rebuildFeed } from '@platform/core/operator';
import { type Command, UsageError, wantsJson } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { withLocalCore } from '../local/local-core.ts';
import { say, sayJson } from '../terminal/terminal.ts';

const NONE =
  'OpenSearch is not configured: PostgreSQL answers searches. Set PLATFORM_SEARCH_OPENSEARCH_URL and restart the platform; it fills the index.';

const actions: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = { rebuild, status };

export const searchCommand: Command = {
  summary: 'show or rebuild the OpenSearch index',
  usage: `Usage: ./platform search <action>

  status [--json]  state of the index and number of pending updates; --json is for programs
  rebuild          fill another index from PostgreSQL, and delete the former one; searches go on meanwhile

For platforms with PLATFORM_SEARCH_OPENSEARCH_URL. docs/operators.md says when to use it.`,
  async run([action = '', ...rest]) {
    const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (run === undefined) throw new UsageError(`Name one action: ${Object.keys(actions).join(', ')}.`);
    return run(rest);
  },
};

async function status(args: readonly string[]): Promise<number> {
  const isJson = wantsJson(args, './platform search status [--json]');
  const feed = await withLocalCore(platformConfiguration(), (context) => feedStatus(context));
  if (isJson) {
    sayJson({ index: feed }, 2);
    return 0;
  }
  if (feed === null) {
    say(NONE);
    return 0;
  }
  const { address, index, state, waiting } = feed;
  const how = {
    filling: 'is being filled; PostgreSQL answers',
    draining: 'is being filled; PostgreSQL answers',
    ready: 'answers searches',
  }[state];
  say(`${index} at ${address} ${how}. Pending updates: ${waiting}.`);
  return 0;
}

async function rebuild(args: readonly string[]): Promise<number> {
  if (args.length > 0) throw new UsageError('Write it as ./platform search rebuild');
  if (!(await withLocalCore(platformConfiguration(), (context) => rebuildFeed(context)))) {
    say(NONE);
    return 1;
  }
  say(
    'The running platform now fills another index; PostgreSQL answers until it is complete: ./platform search status',
  );
  return 0;
}
