// `platform recover`: a one-time link with which the owner of an account adds a passkey after losing all of them.
import { randomBytes } from 'node:crypto';
import { openDatabase, requireMigrated, timeOf } from '@platform/core/database';
import { createEnrolmentLink, findAccount } from '@platform/core/operator';
import { StartError } from '@platform/core/start';
import { type Command, UsageError } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { withDatabase } from '../local/instance.ts';
import { refuseSuspended } from '../local/named-account.ts';
import { minuteText } from '../terminal/minute-text.ts';
import { paint, say } from '../terminal/terminal.ts';

export const recoverCommand: Command = {
  summary: 'print a one-time link that adds a passkey to an account',
  usage: `Usage: ./platform recover <account name>

Prints a link that works once and for 15 minutes. Anyone who opens it can add a passkey to the account and sign in: send it only to the owner, over a channel you trust. The platform need not be running.`,
  async run(args) {
    const [name, ...rest] = args;
    if (name === undefined || rest.length > 0 || name.startsWith('-'))
      throw new UsageError('Name one account: ./platform recover <account name>');
    const config = platformConfiguration();
    const accountName = name.toLowerCase();
    const link = await withDatabase(config, async (url) => {
      await requireMigrated(url);
      const { database, close } = openDatabase({ url, connections: 1, onError: () => undefined });
      try {
        const account = await findAccount({ database }, accountName);
        if (account?.suspended === true) refuseSuspended(account);
        return await createEnrolmentLink(
          { database, config, ...(await timeOf(database)), random: randomBytes },
          accountName,
        );
      } finally {
        await close();
      }
    });
    if (link === null) throw new StartError('no_account', `There is no account named ${name}.`);
    say(`Open this once before ${minuteText(link.expiresAt)}:\n\n  ${paint('cyan', link.url)}\n`);
    return 0;
  },
};
