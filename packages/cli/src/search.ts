// `platform search …`: the operator looks after the index of OpenSearch that takes searches off PostgreSQL.
import { feedStatus, rebuildFeed } from '@platform/core/operator';
import { type Command, UsageError } from './command.ts';
import { configuration } from './configuration.ts';
import { withLocalCore } from './local-core.ts';
import { say } from './terminal.ts';

const NONE =
  'PostgreSQL searches alone: no index of OpenSearch is fed. Set PLATFORM_SEARCH_OPENSEARCH_URL and start the platform; it is filled by itself.';

const actions: Readonly<Record<string, () => Promise<number>>> = { rebuild, status };

export const searchCommand: Command = {
  summary: 'look at the search index in OpenSearch, or have it filled anew',
  usage: `Usage: platform search <action>

  status     how far the index is, and how many changes it was not told yet
  rebuild    fill another index from PostgreSQL, and delete the former one; searches go on meanwhile

For platforms with PLATFORM_SEARCH_OPENSEARCH_URL. docs/operators.md says when that is worth while.`,
  async run([action = '', ...rest]) {
    const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (run === undefined || rest.length > 0)
      throw new UsageError(`Name one action: ${Object.keys(actions).join(', ')}.`);
    return run();
  },
};

async function status(): Promise<number> {
  const feed = await withLocalCore(configuration(), (context) => feedStatus(context));
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
  say(`${index} at ${address} ${how}. Changes it was not told yet: ${waiting}.`);
  return 0;
}

async function rebuild(): Promise<number> {
  if (!(await withLocalCore(configuration(), (context) => rebuildFeed(context)))) {
    say(NONE);
    return 1;
  }
  say('The running platform fills another index now; PostgreSQL answers until it is there: platform search status');
  return 0;
}
