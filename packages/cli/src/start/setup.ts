// `platform setup`: makes a checkout ready, for a server whose service may not write to it.
import { type Command, UsageError } from '../command.ts';
import { say } from '../terminal/terminal.ts';

export const setupCommand: Command = {
  summary: 'make this checkout ready, so that starts need no write access to it',
  usage: `Usage: ./platform setup

Installs the dependencies and builds what browsers load, where that is not done yet. \`./platform start\` does the same by itself; on a server, run this as the owner of the checkout after each update, since the service runs as another user.`,
  async run(args) {
    if (args.length > 0) throw new UsageError('`./platform setup` takes no arguments.');
    // scripts/setup has done the work before it called this.
    say('This checkout is ready.');
    return 0;
  },
};
