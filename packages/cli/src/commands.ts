// Every command of the command line, by name.
import type { Command } from './command.ts';
import { devCommand } from './dev.ts';
import { doctorCommand } from './doctor.ts';
import { nodeCommand } from './node.ts';
import { packageCommand } from './package.ts';
import { publishCommand } from './publish.ts';
import { recoverCommand } from './recover.ts';
import { startCommand } from './start.ts';

export const commands = {
  start: startCommand,
  doctor: doctorCommand,
  package: packageCommand,
  publish: publishCommand,
  dev: devCommand,
  recover: recoverCommand,
  node: nodeCommand,
} as const satisfies Record<string, Command>;
