// `platform node …`: a machine becomes a node and stays one; the operator looks after the nodes.
import { type Command, UsageError } from '../command.ts';
import { joinNode, startJoinedNode } from './join.ts';
import { adopt, cordon, drain, list, printToken, remove, uncordon } from './manage.ts';
import { label, releaseOf, requireOf, reserve, rules, unlabel, unreserve } from './rules.ts';

const actions: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  join: joinNode,
  start: startJoinedNode,
  token: printToken,
  adopt,
  list,
  cordon,
  uncordon,
  drain,
  remove,
  label,
  unlabel,
  require: requireOf,
  release: releaseOf,
  reserve,
  unreserve,
  rules,
};

export const nodeCommand: Command = {
  summary: 'manage nodes: further machines that run backends',
  usage: `Usage: ./platform node <action>

On the machine of core:
  token [--label <label>]…     print a token for joining one machine; single use, valid for an hour
  adopt <name>                 print a token that gives a node whose key is lost a new one; its volumes stay its own
  list [--json]                all nodes: state, memory, apps, driver, version
  cordon <name>                place nothing new there
  uncordon <name>              allow new backends again
  drain <name>                 cordon it, and move its movable backends away
  remove <name> [--abandon-volumes]
                               remove a node without backends; --abandon-volumes gives up the data stored on it
  label|unlabel <name> <label>…
                               add labels to a node, or remove them
  require|release <label> [--account <name>] [--app <app id>]
                               place these backends only on nodes with the label, or no longer
  reserve|unreserve <label>    reserve nodes with the label for backends that require it, or no longer
  rules [--json]               list requirements and reservations

On another machine:
  join <core-url> <token> [--name <name>]
                               become a node, and run as one until Ctrl-C or SIGTERM
  start                        run as the node this machine already is

--json is for programs. Labels say what a node may be used for. Every node has one of platform-hosted and self-hosted; without --label it is
self-hosted. docs/operations/nodes.md describes nodes.`,
  async run([action = '', ...args]) {
    const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (run === undefined) throw new UsageError(`Name an action: ${Object.keys(actions).join(', ')}.`);
    return run(args);
  },
};
