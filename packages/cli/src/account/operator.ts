// `platform account operator`: who looks after the whole platform, where no setting says so. Who may run it has the data folder,
// and so the platform (docs/decisions/first-operator.md).
import { masterName, nameOperator, withdrawMaster } from '@platform/core/operator';
import { StartError } from '@platform/core/start';
import { UsageError } from '../command.ts';
import { configuration } from '../local/configuration.ts';
import { runningMaster } from '../local/instance.ts';
import { withLocalCore } from '../local/local-core.ts';
import { requireAccount } from '../local/named-account.ts';
import { minuteText } from '../terminal/minute-text.ts';
import { paint, say } from '../terminal/terminal.ts';

/** @returns the exit code */
export async function operator(args: readonly string[]): Promise<number> {
  const [wanted, ...rest] = args;
  if (rest.length > 0 || (wanted?.startsWith('-') === true && wanted !== '--withdraw'))
    throw new UsageError('Write it as ./platform account operator [<account name> | --withdraw]');
  if (wanted === undefined) return sayOperator();
  return wanted === '--withdraw' ? withdraw() : name(wanted.toLowerCase());
}

async function sayOperator(): Promise<number> {
  const named = await withLocalCore(configuration(), masterName);
  say(named ?? 'Nobody is the operator yet. Register, then: ./platform account operator <account name>');
  return 0;
}

async function name(accountName: string): Promise<number> {
  const config = configuration();
  const running = runningMaster(config.dataDirectory);
  if (running !== null && config.masterAccount === null)
    throw new StartError(
      'not_authorized',
      `The running platform was started with PLATFORM_MASTER_ACCOUNT=${running}, so nobody else can be made the operator. Change it and restart.`,
    );
  const registered = await withLocalCore(config, async (context) =>
    nameOperator(context, (await requireAccount(context, accountName)).name),
  );
  say(
    `${paint('green', '✓')} ${accountName}, registered ${minuteText(registered.toISOString())}, is the operator: it has Fleet, and invites, suspends and deletes accounts there.`,
  );
  say('If that is not your account, take it back: ./platform account operator --withdraw');
  return 0;
}

async function withdraw(): Promise<number> {
  const config = configuration();
  const former = await withLocalCore(config, withdrawMaster);
  if (former !== null) {
    say(`${paint('green', '✓')} ${former} is no longer the operator.`);
    return 0;
  }
  say('Nobody was made the operator with this command.');
  if (config.masterAccount !== null) say(`PLATFORM_MASTER_ACCOUNT names ${config.masterAccount}.`);
  return 0;
}
