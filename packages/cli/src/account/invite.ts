// `platform account invite`, `invitations`, `uninvite`: one-time links with which people register.
import { accountName } from '@platform/contract';
import { createInvitation, listInvitations, revokeInvitation } from '@platform/core/operator';
import { UsageError, wantsJson } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { withLocalCore } from '../local/local-core.ts';
import { minuteText } from '../terminal/minute-text.ts';
import { sayTable } from '../terminal/say-table.ts';
import { paint, say, sayJson } from '../terminal/terminal.ts';

/** @returns the exit code */
export async function invite(args: readonly string[]): Promise<number> {
  const name = invitedName(args);
  const config = platformConfiguration();
  const { url, expiresAt, id, isOpen } = await withLocalCore(config, async (context) => ({
    ...(await createInvitation(context, name)),
    isOpen: (await context.settings.current()).registration.value === 'open',
  }));
  const whom = name === null ? 'One person' : name;
  say(`${whom} can register once with this link, before ${minuteText(expiresAt)}:\n\n  ${paint('cyan', url)}\n`);
  say(`Send it over a channel you trust. \`./platform account uninvite ${id}\` revokes it.`);
  if (isOpen) say(paint('yellow', 'Registration is open, so everyone can register without a link too.'));
  return 0;
}

function invitedName(args: readonly string[]): string | null {
  if (args.length === 0) return null;
  const [option, name, ...rest] = args;
  if (option !== '--for' || name === undefined || rest.length > 0)
    throw new UsageError('Write it as ./platform account invite [--for <account name>]');
  const result = accountName.safeParse(name);
  if (!result.success) throw new UsageError(`${name} cannot be the name of an account.`);
  return result.data;
}

/** @returns the exit code */
export async function listInvitationsOf(args: readonly string[]): Promise<number> {
  const isJson = wantsJson(args, './platform account invitations [--json]');
  const invitations = await withLocalCore(platformConfiguration(), listInvitations);
  if (isJson) sayJson({ items: invitations }, 2);
  else if (invitations.length === 0) say('No pending invitations. `./platform account invite` makes one.');
  else
    sayTable(
      ['ID', 'FOR', 'MADE', 'EXPIRES'],
      invitations.map(({ id, name, createdAt, expiresAt }) => [
        id,
        name ?? 'any name',
        minuteText(createdAt),
        minuteText(expiresAt),
      ]),
    );
  return 0;
}

/** @returns the exit code */
export async function uninvite([id, ...rest]: readonly string[]): Promise<number> {
  if (id === undefined || rest.length > 0)
    throw new UsageError(
      'Name one invitation: ./platform account uninvite <id>. `./platform account invitations` lists them.',
    );
  await withLocalCore(platformConfiguration(), (context) => revokeInvitation(context, id));
  say(`${paint('green', '✓')} The invitation is revoked.`);
  return 0;
}
