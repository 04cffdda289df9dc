// `platform start`: the whole platform under one supervisor (supervisor/supervise.ts), or one backend of it.
import type { Command } from './command.ts';
import { LogFile } from './supervisor/log-file.ts';
import { PartProgram } from './supervisor/part-process.ts';
import type { Programs } from './supervisor/supervise.ts';
import { complain } from './terminal.ts';

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
    if (option === undefined) return start({ verbose: false });
    if (option === '--verbose' && rest.length === 0) return start({ verbose: true });
    return (await import('./start-stop.ts')).startBackend(args);
  },
};

async function start({ verbose }: { readonly verbose: boolean }): Promise<number> {
  const log = verbose || !(process.stdout.isTTY || process.stderr.isTTY) ? undefined : new LogFile();
  const program = <Order, Report>(name: string, file: string, withheld: RegExp) =>
    new PartProgram<Order, Report>(name, new URL(file, import.meta.url), withheld, { log });
  // What configures the platform reaches its parts over their channels; libpq's variables may hold a password.
  const programs: Programs = {
    core: program('Core', './supervisor/core-part.ts', /^PLATFORM_/),
    node: program('Node', './supervisor/node-part.ts', /^(PLATFORM_|PG)/),
    ingress: program('Ingress', './supervisor/ingress-part.ts', /^(PLATFORM_|PG)/),
  };
  // Most of a start is reading programs: they read theirs while the supervisor reads its own and PostgreSQL starts.
  programs.core.load();
  programs.node.load();
  programs.ingress.load();
  try {
    return await (await import('./supervisor/supervise.ts')).supervise(programs, { verbose, log });
  } finally {
    const unread = log?.close() ?? Buffer.alloc(0);
    if (unread.length > 0) complain(unread.toString().trimEnd());
  }
}
