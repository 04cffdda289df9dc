// `platform start`: the whole platform under one supervisor (supervisor/supervise.ts), or one backend of it.
import type { Command } from './command.ts';
import { PartProgram } from './supervisor/part-process.ts';
import type { Programs } from './supervisor/supervise.ts';

export const startCommand: Command = {
  summary: 'run the platform on this machine; with a name, start one backend',
  usage: `Usage: platform start
       platform start <account>/<app> | <installation id>

Alone it runs core, the node (Runtime and Gateways), the Ingress and, unless PLATFORM_DATABASE_URL is set, PostgreSQL,
each as a process of its own, until Ctrl-C or SIGTERM. A part that ends by itself is restarted.
Configuration comes from environment variables; docs/configuration.md lists them.

With a name it starts that backend in the platform that runs on this machine, and says whether it listens.`,
  run: async (args) => (args.length === 0 ? start() : (await import('./start-stop.ts')).startBackend(args)),
};

async function start(): Promise<number> {
  // What configures the platform reaches its parts over their channels; libpq's variables may hold a password.
  const programs: Programs = {
    core: new PartProgram('Core', new URL('./supervisor/core-part.ts', import.meta.url), /^PLATFORM_/),
    node: new PartProgram('Node', new URL('./supervisor/node-part.ts', import.meta.url), /^(PLATFORM_|PG)/),
    ingress: new PartProgram('Ingress', new URL('./supervisor/ingress-part.ts', import.meta.url), /^(PLATFORM_|PG)/),
  };
  // Most of a start is reading programs: they read theirs while the supervisor reads its own and PostgreSQL starts.
  programs.core.load();
  programs.node.load();
  programs.ingress.load();
  return (await import('./supervisor/supervise.ts')).supervise(programs);
}
