// `platform start`: the whole platform under one supervisor (supervisor/run-platform.ts), or one backend of it.
import { type Command, UsageError } from '../command.ts';
import { parts } from '../supervisor/parts/table.ts';
import { runPlatform } from '../supervisor/run-platform.ts';

const OPTIONS = new Set(['--verbose', '--new', '--adopt']);

export const startCommand: Command = {
  summary: 'run the platform on this machine; with a name, start one backend',
  usage: `Usage: ./platform start [--verbose] [--new | --adopt]
       ./platform start <account>/<app> | <installation id>

Alone it runs core, the node (Runtime and Gateways), the Ingress and, unless PLATFORM_DATABASE_URL is set, PostgreSQL,
each as a process of its own, until Ctrl-C or SIGTERM. A part that ends by itself is restarted.
Configuration comes from environment variables; docs/configuration.md lists them. On a terminal the log goes to
platform.log in the data folder.

  --verbose  prints all settings, and the log on the terminal
  --new      this is a first start, whatever is left in the data folder: where something is missing, the platform refuses to
             start rather than begin without it
  --adopt    the key of this machine was lost: it goes on as the node that the database knows, with a new key

With a name it starts that backend in the platform that runs on this machine, and says whether it listens.`,
  async run(args) {
    if (args.some((arg) => !OPTIONS.has(arg))) return (await import('../apps/start-stop.ts')).startBackend(args);
    const [isNew, adopts] = [args.includes('--new'), args.includes('--adopt')];
    if (isNew && adopts)
      throw new UsageError('Either this machine is a new node, or it goes on as the one that it was.');
    return runPlatform(parts, {
      verbose: args.includes('--verbose'),
      absence: isNew ? 'new' : adopts ? 'adopt' : 'refuse',
    });
  },
};
