// `platform clock`: whether the clocks agree, and the operator's word that this machine's is right.
import { existsSync } from 'node:fs';
import type { PlatformConfig } from '@platform/core/config';
import { clockAlarm } from '@platform/core/operator';
import { reasonOf } from '@platform/core/start';
import { type Command, UsageError } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { withLocalCore } from '../local/local-core.ts';
import { paint, say } from '../terminal/terminal.ts';
import { type Finding, isPassing } from './finding.ts';

export const clockCommand: Command = {
  summary: 'show whether the clocks agree, and accept a clock that jumped',
  usage: `Usage: ./platform clock
       ./platform clock accept

Compares the clock of this machine with PostgreSQL's, and with the last time on record. While they differ by more than five
minutes, nothing is deleted or ended by age. Set the clock if it is wrong. If it is right, for example after the machine was
off, \`accept\` says so, and everything goes on. Exits with 1 while they differ.`,
  async run([action, ...rest]) {
    if ((action !== undefined && action !== 'accept') || rest.length > 0)
      throw new UsageError('Usage: ./platform clock [accept]');
    return withLocalCore(platformConfiguration(), async ({ time }) => {
      if (action === 'accept') {
        await time.accept();
        say(`${paint('green', '✓')} ${new Date().toISOString()} is right. A running platform follows within a minute.`);
      }
      const hold = time.held();
      if (hold !== null) say(`${paint('red', '✗')} ${clockAlarm(hold)}`);
      else if (action === undefined) say(`${paint('green', '✓')} ${time.now().toISOString()}: the clocks agree.`);
      return hold === null ? 0 : 1;
    });
  },
};

/** Of the machine of core, once there is a platform. */
export async function clockFindings(config: PlatformConfig): Promise<Finding[]> {
  if (!existsSync(config.masterKeyFile)) return [];
  const check = 'clock';
  try {
    const hold = await withLocalCore(config, async ({ time }) => time.held());
    if (hold === null) return [{ check, verdict: 'good', found: 'agrees with PostgreSQL and the last time on record' }];
    return [{ check, verdict: 'bad', found: 'clocks differ', cure: clockAlarm(hold) }];
  } catch (error) {
    const verdict = isPassing(error) ? 'warning' : 'bad';
    return [{ check, verdict, found: `could not be compared (${reasonOf(error)})` }];
  }
}
