// `platform account …`: the operator lists accounts, invites, suspends, resumes and deletes them, beside a running platform
// or without.

import { didYouMean, type ListedAccount } from '@platform/contract';
import { sizeText } from '@platform/contract/sizes';
import {
  deleteAccount,
  listAccountsWithUse,
  masterName,
  requireNotMaster,
  resumeSuspended,
  suspendAccount,
} from '@platform/core/operator';
import { type Command, UsageError, wantsJson } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { withLocalCore } from '../local/local-core.ts';
import { requireAccount } from '../local/named-account.ts';
import { ask } from '../terminal/ask.ts';
import { minuteText } from '../terminal/minute-text.ts';
import { sayTable } from '../terminal/say-table.ts';
import { paint, say, sayJson } from '../terminal/terminal.ts';
import { invite, listInvitationsOf, uninvite } from './invite.ts';
import { operator } from './operator.ts';
import { setPlanOf } from './plan.ts';

const actions: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  list,
  invite,
  invitations: listInvitationsOf,
  uninvite,
  operator,
  suspend,
  resume,
  plan: setPlanOf,
  delete: remove,
};

export const accountCommand: Command = {
  summary: 'list, invite, suspend, resume and delete accounts; make one the operator; set a plan',
  usage: `Usage: ./platform account <action>

  list [--json]                all accounts: state, plan, installed apps, disk, last use; --json is for programs, here and below
  invite [--for <name>]        print a link with which one person can register once; with --for only under that name
  invitations [--json]         the invitations that wait to be used
  uninvite <id>                revoke one of them
  operator <name>              make the account the operator, who sees the whole platform in Fleet; without a name say who is
  operator --withdraw          take that back
  suspend <name>               sign the account out everywhere, end the access of its apps and stop its backends
  resume <name>                let its owner sign in again and its backends start again
  plan <name> <free|paid|default>  what it is entitled to; \`default\` is what Fleet or PLATFORM_DEFAULT_PLAN says
  delete <name> [--yes]        delete the account at once, with everything it has; --yes does not ask

PLATFORM_REGISTRATION, or where it is not set Fleet, decides who may register; the first account of a platform that is not open needs an invitation.
Raw object storage needs the paid plan; backends that get or lose it are started anew.
A suspension deletes no data. Other accounts keep the apps they installed from this one, also after its deletion.`,
  async run([action = '', ...args]) {
    const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (run === undefined) {
      const wrong = action === '' ? '' : `There is no action ${action}${didYouMean(action, Object.keys(actions))}. `;
      throw new UsageError(`${wrong}Name an action: ${Object.keys(actions).join(', ')}.`);
    }
    return run(args);
  },
};

const AT_ONCE = 200;

async function list(args: readonly string[]): Promise<number> {
  const isJson = wantsJson(args, './platform account list [--json]');
  const accounts = await withLocalCore(platformConfiguration(), async (context) => {
    const all: ListedAccount[] = [];
    for (;;) {
      const page = await listAccountsWithUse(context, { after: all.at(-1)?.name ?? '', limit: AT_ONCE });
      all.push(...page);
      if (page.length < AT_ONCE) return all;
    }
  });
  if (isJson) sayJson({ items: accounts }, 2);
  else if (accounts.length === 0) say('No accounts yet.');
  else sayTable(HEADINGS, accounts.map(cells));
  return 0;
}

const HEADINGS = ['NAME', 'STATE', 'PLAN', 'APPS', 'DISK', 'SESSIONS', 'LAST SEEN', 'REGISTERED'];

function cells({
  name,
  state,
  plan,
  ownPlan,
  apps,
  diskBytes,
  sessions,
  lastSeenAt,
  createdAt,
  deletesAt,
}: ListedAccount): string[] {
  const shown = deletesAt === null ? state : `deleted on ${deletesAt.slice(0, 10)}`;
  const planned = ownPlan ? plan : `${plan} (default)`;
  const seen = lastSeenAt === null ? '' : minuteText(lastSeenAt);
  return [name, shown, planned, String(apps), sizeText(diskBytes), String(sessions), seen, minuteText(createdAt)];
}

async function suspend(args: readonly string[]): Promise<number> {
  const name = nameOf('suspend', args);
  const config = platformConfiguration();
  const { changed, master } = await withLocalCore(config, async (context) => ({
    changed: await suspendAccount(context, (await requireAccount(context, name)).name),
    master: await masterName(context),
  }));
  say(
    changed
      ? `${paint('green', '✓')} ${name} is suspended: signed out everywhere, its apps have no access, its backends stop.`
      : `${name} is suspended already.`,
  );
  if (name === master)
    say(
      paint(
        'yellow',
        `${name} is the master account: nobody can open Fleet until \`./platform account resume ${name}\`.`,
      ),
    );
  return 0;
}

async function resume(args: readonly string[]): Promise<number> {
  const name = nameOf('resume', args);
  const changed = await withLocalCore(platformConfiguration(), async (context) =>
    resumeSuspended(context, (await requireAccount(context, name)).name),
  );
  say(
    changed
      ? `${paint('green', '✓')} ${name} may sign in again. Its backends start again when they are used.`
      : `${name} is not suspended.`,
  );
  return 0;
}

async function remove(args: readonly string[]): Promise<number> {
  const sure = args.includes('--yes');
  const name = nameOf(
    'delete',
    args.filter((arg) => arg !== '--yes'),
  );
  return withLocalCore(platformConfiguration(), async (context) => {
    // Before the question: what cannot be deleted is not asked about.
    await requireAccount(context, name);
    await requireNotMaster(context, name);
    if (!sure && !(await isConfirmed(name))) {
      say('Nothing was deleted.');
      return 1;
    }
    await deleteAccount(context, { name });
    say(
      `${paint('green', '✓')} ${name} is deleted. Its backends stop. Its volumes and objects go as soon as their nodes and the object store answer.`,
    );
    return 0;
  });
}

async function isConfirmed(name: string): Promise<boolean> {
  const what = `This deletes ${name} with its apps, their data, its secrets and notifications. Nothing brings them back.`;
  const question = `${what}\nType the name of the account to delete it:`;
  return (await ask(question, 'Add --yes to delete it without being asked.')).toLowerCase() === name;
}

function nameOf(action: string, args: readonly string[]): string {
  const [name, ...rest] = args;
  if (name === undefined || rest.length > 0 || name.startsWith('-'))
    throw new UsageError(`Name one account: ./platform account ${action} <account name>`);
  return name.toLowerCase();
}
