// `platform account …`: the operator lists accounts, and suspends and resumes one, beside a running platform or without.
import { type AccountRow, listAccountStates, resumeSuspended, suspendAccount } from '@platform/core/operator';
import { setPlanOf } from './account-plan.ts';
import { type Command, UsageError } from './command.ts';
import { configuration } from './configuration.ts';
import { withLocalCore } from './local-core.ts';
import { sayTable } from './say-table.ts';
import { paint, say } from './terminal.ts';

const actions: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  list,
  suspend,
  resume,
  plan: setPlanOf,
};

export const accountCommand: Command = {
  summary: 'list accounts; suspend and resume one; set its plan',
  usage: `Usage: platform account <action>

  list                         all accounts: state, open sessions, last use
  suspend <name>               sign the account out everywhere, end the access of its apps and stop its backends
  resume <name>                let its owner sign in again and its backends start again
  plan <name> <free|paid|default>  what it is entitled to; \`default\` is what PLATFORM_DEFAULT_PLAN says

Raw object storage needs the paid plan; backends that get or lose it are started anew.
A suspension deletes no data. Whoever else installed apps that the account published keeps them.`,
  async run([action = '', ...args]) {
    const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (run === undefined) throw new UsageError(`Name an action: ${Object.keys(actions).join(', ')}.`);
    return run(args);
  },
};

async function list(args: readonly string[]): Promise<number> {
  if (args.length > 0) throw new UsageError('platform account list takes no further arguments.');
  const rows = await withLocalCore(configuration(), listAccountStates);
  if (rows.length === 0) {
    say('No accounts yet.');
    return 0;
  }
  sayTable(HEADINGS, rows.map(cells));
  return 0;
}

const HEADINGS = ['NAME', 'STATE', 'SESSIONS', 'LAST USED', 'REGISTERED'];

function cells({ name, suspended_at, paused_at, sessions, last_used_at, created_at }: AccountRow): string[] {
  const state = suspended_at !== null ? 'suspended' : paused_at !== null ? 'paused' : 'active';
  return [name, state, String(sessions), last_used_at?.toISOString() ?? '', created_at.toISOString()];
}

async function suspend(args: readonly string[]): Promise<number> {
  const name = nameOf('suspend', args);
  const changed = await withLocalCore(configuration(), (context) => suspendAccount(context, name));
  say(
    changed
      ? `${paint('green', '✓')} ${name} is suspended: signed out everywhere, its apps have no access, its backends stop.`
      : `${name} is suspended already.`,
  );
  return 0;
}

async function resume(args: readonly string[]): Promise<number> {
  const name = nameOf('resume', args);
  const changed = await withLocalCore(configuration(), (context) => resumeSuspended(context, name));
  say(
    changed
      ? `${paint('green', '✓')} ${name} may sign in again. Its backends start again when they are used.`
      : `${name} is not suspended.`,
  );
  return 0;
}

function nameOf(action: string, args: readonly string[]): string {
  const [name, ...rest] = args;
  if (name === undefined || rest.length > 0 || name.startsWith('-'))
    throw new UsageError(`Name one account: platform account ${action} <account name>`);
  return name.toLowerCase();
}
