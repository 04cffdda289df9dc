// `platform node label|unlabel|require|release|reserve|unreserve|rules`: the operator steers where backends run, by
// labels of nodes.
import { parseArgs } from 'node:util';
import { appId as appIdShape } from '@platform/contract';
import {
  addRule,
  labelNode,
  listReservedLabels,
  listRules,
  type ReservedLabelRow,
  type RuleRow,
  removeRule,
  reserveLabel,
  unreserveLabel,
} from '@platform/core/operator';
import { UsageError, understood, wantsJson } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { withLocalCore } from '../local/local-core.ts';
import { say, sayJson } from '../terminal/terminal.ts';

const LABEL = /^(?=.{1,63}$)[a-z0-9]+(?:[-.=/][a-z0-9]+)*$/;

/** @throws UsageError when it cannot be one */
export function requireLabel(label: string): string {
  if (LABEL.test(label)) return label;
  throw new UsageError(`"${label}" is not a label: at most 63 lower-case letters, digits, - . = and /.`);
}

export function label(args: readonly string[]): Promise<number> {
  const [name, ...labels] = nodeAndLabels(args);
  return relabel(name, { add: labels });
}

export function unlabel(args: readonly string[]): Promise<number> {
  const [name, ...labels] = nodeAndLabels(args);
  return relabel(name, { remove: labels });
}

async function relabel(name: string, change: Parameters<typeof labelNode>[2]): Promise<number> {
  const labels = await withLocalCore(platformConfiguration(), (context) => labelNode(context, name, change));
  say(`Labels of ${name}: ${labels.join(', ')}. They apply to backends placed from now on.`);
  return 0;
}

export async function requireOf(args: readonly string[]): Promise<number> {
  const rule = ruleOf(args);
  await withLocalCore(platformConfiguration(), (context) => addRule(context, rule.label, rule));
  say(`${subjectOf(rule)}: placed on nodes labelled ${rule.label} only, from now on.`);
  return 0;
}

export async function releaseOf(args: readonly string[]): Promise<number> {
  const rule = ruleOf(args);
  await withLocalCore(platformConfiguration(), (context) => removeRule(context, rule.label, rule));
  say(`${subjectOf(rule)}: no longer bound to nodes labelled ${rule.label}.`);
  return 0;
}

export async function reserve(args: readonly string[]): Promise<number> {
  const label = onlyLabel(args);
  const reserved = await withLocalCore(platformConfiguration(), async (context) => {
    await reserveLabel(context, label);
    return (await listReservedLabels(context)).filter((row) => row.label === label);
  });
  say(`Nodes labelled ${label} take only backends that it is required for, from now on.`);
  for (const { strangers } of reserved)
    if (strangers > 0) say(`Backends already there stay until their node is drained: ${apps(strangers)}.`);
  return 0;
}

export async function unreserve(args: readonly string[]): Promise<number> {
  const label = onlyLabel(args);
  await withLocalCore(platformConfiguration(), (context) => unreserveLabel(context, label));
  say(`Nodes labelled ${label} take all backends again.`);
  return 0;
}

export async function rules(args: readonly string[]): Promise<number> {
  const isJson = wantsJson(args, './platform node rules [--json]');
  const { required, reserved } = await withLocalCore(platformConfiguration(), async (context) => ({
    required: await listRules(context),
    reserved: await listReservedLabels(context),
  }));
  if (isJson) {
    sayJson({ required, reserved }, 2);
    return 0;
  }
  if (required.length + reserved.length === 0) say('No rules: backends are placed by free memory.');
  for (const row of required) say(`${subjectOf(row)}: ${row.label} (${nodes(row.nodes)})`);
  for (const row of reserved) say(reservation(row, required));
  return 0;
}

function reservation({ label, nodes: count, strangers }: ReservedLabelRow, required: readonly RuleRow[]): string {
  const remarks = [nodes(count)];
  if (!required.some((rule) => rule.label === label)) remarks.push('nothing requires it');
  if (strangers > 0) remarks.push(`${apps(strangers)} from before`);
  return `${label} is reserved (${remarks.join('; ')})`;
}

function nodes(count: number): string {
  return count === 1 ? '1 node' : `${count} nodes`;
}

function apps(count: number): string {
  return count === 1 ? '1 other app' : `${count} other apps`;
}

function subjectOf({ account, appId }: Pick<RuleRow, 'account' | 'appId'>): string {
  if (account === null) return `${appId} of every account`;
  return appId === null ? `every backend of ${account}` : `${appId} of ${account}`;
}

function nodeAndLabels(args: readonly string[]): [string, ...string[]] {
  const [name, ...labels] = args;
  if (name === undefined || labels.length === 0) throw new UsageError('Name a node and one or more labels.');
  return [name, ...labels.map(requireLabel)];
}

function onlyLabel(args: readonly string[]): string {
  const [given, ...rest] = args;
  if (given === undefined || rest.length > 0) throw new UsageError('Name one label.');
  return requireLabel(given);
}

function ruleOf(args: readonly string[]): { label: string; account: string | null; appId: string | null } {
  const options = { account: { type: 'string' }, app: { type: 'string' } } as const;
  const { values, positionals } = understood(() => parseArgs({ args: [...args], options, allowPositionals: true }));
  const label = onlyLabel(positionals);
  const { account = null, app = null } = values;
  if (account === null && app === null) throw new UsageError('Say whose backends: --account <name>, --app <app id>.');
  if (app !== null && !appIdShape.safeParse(app).success) throw new UsageError(`"${app}" is not the id of an app.`);
  return { label, account: account?.toLowerCase() ?? null, appId: app };
}
