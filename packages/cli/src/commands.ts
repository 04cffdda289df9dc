// Every command of the command line, by name.
import type { Command } from './command.ts';
import { devCommand } from './dev.ts';
import { doctorCommand } from './doctor.ts';
import { logsCommand } from './logs.ts';
import { nodeCommand } from './node.ts';
import { packageCommand } from './package.ts';
import { psCommand } from './ps.ts';
import { publishCommand } from './publish.ts';
import { recoverCommand } from './recover.ts';
import { startCommand } from './start.ts';
import { stopCommand } from './start-stop.ts';

export const commands = {
  start: startCommand,
  doctor: doctorCommand,
  package: packageCommand,
  publish: publishCommand,
  dev: devCommand,
  ps: psCommand,
  logs: logsCommand,
  stop: stopCommand,
  recover: recoverCommand,
  node: nodeCommand,
} as const satisfies Record<string, Command>;
