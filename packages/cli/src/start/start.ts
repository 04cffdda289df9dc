// `platform start`: the whole platform under one supervisor (supervisor/run-platform.ts), or one backend of it.
import type { Command } from '../command.ts';
import { parts } from '../supervisor/parts/table.ts';
import { runPlatform } from '../supervisor/run-platform.ts';

export const startCommand: Command = {
  summary: 'run the platform on this machine; with a name, start one backend',
  usage: `Usage: ./platform start [--verbose]
       ./platform start <account>/<app> | <installation id>

Alone it runs core, the node (Runtime and Gateways), the Ingress and, unless PLATFORM_DATABASE_URL is set, PostgreSQL,
each as a process of its own, until Ctrl-C or SIGTERM. A part that ends by itself is restarted.
Configuration comes from environment variables; docs/configuration.md lists them. On a terminal the log goes to
platform.log in the data folder.

  --verbose  prints all settings, and the log on the terminal

With a name it starts that backend in the platform that runs on this machine, and says whether it listens.`,
  async run(args) {
    const [option, ...rest] = args;
    if (option === undefined) return runPlatform(parts, { verbose: false });
    if (option === '--verbose' && rest.length === 0) return runPlatform(parts, { verbose: true });
    return (await import('../apps/start-stop.ts')).startBackend(args);
  },
};
