// `platform start` of a platform with one part more, between core and the node.
import { keepToOwner } from '@platform/core/start';
import type { Part } from '../../src/supervisor/part.ts';
import { parts } from '../../src/supervisor/parts/table.ts';
import { runPlatform } from '../../src/supervisor/run-platform.ts';
import { complain } from '../../src/terminal/terminal.ts';
import { greeter } from './greeter.ts';

keepToOwner();
try {
  process.exitCode = await runPlatform(
    parts.flatMap<Part>((part) => (part.name === 'Node' ? [greeter, part] : [part])),
    { verbose: true },
  );
} catch (error) {
  complain(`platform: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
