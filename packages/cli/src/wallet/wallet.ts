// `platform wallet …`: the operator gives credits, and whoever has the books checks them.
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { didYouMean } from '@platform/contract';
import {
  creditAccount,
  type Finding,
  type KnownKey,
  moneyText,
  readKeys,
  verifyExport,
  verifyNow,
} from '@platform/core/operator';
import { StartError } from '@platform/core/start';
import { type Command, UsageError, understood } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { withLocalCore } from '../local/local-core.ts';
import { requireAccount } from '../local/named-account.ts';
import { paint, say } from '../terminal/terminal.ts';

const actions: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = { credit, verify };

export const walletCommand: Command = {
  summary: 'give an account credits; verify the ledger, or an export of it',
  usage: `Usage: ./platform wallet <action>

  credit <account> <value> --reason <text>  give an account credits; <value> is in minor units, so 1250 is 12.50
  verify                                    check every entry, receipt and assertion of the ledger; exit code 1 if one is wrong
  verify --export <file> [--keys <file>]    the same of a JSON export of Wallet, from the file alone: no platform is needed.
                                            --keys compares its public keys with those of a file that was kept elsewhere, an
                                            older export of Wallet or passkeys.json of a download of the account; without it
                                            nobody can see that keys and signatures were exchanged together. Can be repeated

PLATFORM_WALLET_CURRENCY says what credits are called and how many decimals they have.`,
  async run([action = '', ...args]) {
    const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (run === undefined) {
      const wrong = action === '' ? '' : `There is no action ${action}${didYouMean(action, Object.keys(actions))}. `;
      throw new UsageError(`${wrong}Name an action: ${Object.keys(actions).join(', ')}.`);
    }
    return run(args);
  },
};

const LONGEST_REASON = 140;

async function credit(args: readonly string[]): Promise<number> {
  const { values, positionals } = understood(() =>
    parseArgs({ args: [...args], options: { reason: { type: 'string' } }, allowPositionals: true }),
  );
  const [name, value, ...rest] = positionals;
  const reason = values.reason?.trim() ?? '';
  if (name === undefined || value === undefined || rest.length > 0 || reason === '')
    throw new UsageError('Write it as ./platform wallet credit <account> <value> --reason <text>');
  if (!/^[1-9]\d{0,14}$/.test(value))
    throw new UsageError(`${value} is no amount. Name a whole number of minor units with at most 15 digits.`);
  if (reason.length > LONGEST_REASON || /\p{C}/u.test(reason))
    throw new UsageError(`Give a reason in one line of at most ${LONGEST_REASON} characters.`);
  return withLocalCore(platformConfiguration(), async (context) => {
    const account = await requireAccount(context, name.toLowerCase());
    const balance = await creditAccount(context, account.key, { value: BigInt(value), reason });
    const { walletCurrency } = context.config;
    const given = moneyText(BigInt(value), walletCurrency);
    say(`${paint('green', '✓')} ${account.name} got ${given} and has ${moneyText(balance, walletCurrency)}.`);
    return 0;
  });
}

async function verify(args: readonly string[]): Promise<number> {
  const { values } = understood(() =>
    parseArgs({ args: [...args], options: { export: { type: 'string' }, keys: { type: 'string', multiple: true } } }),
  );
  const { export: file, keys } = values;
  if (file === undefined && keys !== undefined) throw new UsageError('--keys is for an export: name it with --export.');
  if (file !== undefined) {
    const trusted = keys === undefined ? null : (await Promise.all(keys.map(readKeysFile))).flat();
    const findings = await collect(verifyExport(await readJson('export', file), trusted));
    if (trusted === null && findings.length === 0)
      say('Its public keys were not compared with any that were kept elsewhere; --keys does that.');
    return sayFindings(`The export ${file}`, findings);
  }
  return withLocalCore(platformConfiguration(), async ({ database, config }) =>
    sayFindings('The ledger', await verifyNow(database, config)),
  );
}

/** More than anybody reads. */
const MOST = 1_000;

async function collect(findings: AsyncIterable<Finding>): Promise<Finding[]> {
  const all: Finding[] = [];
  for await (const finding of findings) {
    all.push(finding);
    if (all.length === MOST) break;
  }
  return all;
}

async function readKeysFile(file: string): Promise<KnownKey[]> {
  const keys = readKeys(await readJson('file of keys', file));
  if (keys === null)
    throw new StartError(
      'wrong_file',
      `${file} is neither an export of Wallet nor passkeys.json of a download of an account.`,
    );
  return keys;
}

async function readJson(what: string, file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartError('wrong_file', `The ${what} ${file} cannot be read: ${why}`);
  }
}

function sayFindings(what: string, findings: readonly Finding[]): number {
  if (findings.length === 0) {
    say(`${paint('green', '✓')} ${what} is what was approved: every entry, receipt and assertion holds.`);
    return 0;
  }
  for (const finding of findings) say(`${paint('red', '✗')} ${finding.of}: ${finding.what}`);
  const count =
    findings.length === MOST
      ? `${MOST} or more findings`
      : findings.length === 1
        ? 'One finding'
        : `${findings.length} findings`;
  say(`${count}. ${what} is not what was approved.`);
  return 1;
}
