// `platform node …`: a machine becomes a node and stays one; the operator looks after the nodes.
import { type Command, UsageError } from './command.ts';
import { joinNode, startJoinedNode } from './node-join.ts';
import { cordon, drain, list, printToken, remove, uncordon } from './node-manage.ts';
import { label, releaseOf, requireOf, reserve, rules, unlabel, unreserve } from './node-rules.ts';

const actions: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  join: joinNode,
  start: startJoinedNode,
  token: printToken,
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
  summary: 'further machines that run backends of apps',
  usage: `Usage: platform node <action>

On the machine of core:
  token [--label <label>]…     print a token with which one machine joins; works once, for an hour
  list                         all nodes: state, memory, apps, driver, version
  cordon <name>                place nothing new there
  uncordon <name>              take that back
  drain <name>                 cordon it, and move away what can move
  remove <name> [--abandon-volumes]
                               end a node on which nothing is left; --abandon-volumes gives up the data that lies on it
  label <name> <label>…        give a node labels; unlabel takes them away
  require <label> [--account <name>] [--app <app id>]
                               place these backends on nodes with the label only; release takes that back
  reserve <label>              keep nodes with the label for what requires it; unreserve takes that back
  rules                        what is required and reserved

On another machine:
  join <core-url> <token> [--name <name>]
                               become a node, and run as one until Ctrl-C or SIGTERM
  start                        run as the node this machine has become before

Labels say what a node may be used for. Every node has one of platform-hosted and self-hosted; without --label it is
self-hosted. docs/operations/nodes.md describes nodes.`,
  async run([action = '', ...args]) {
    const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (run === undefined) throw new UsageError(`Name an action: ${Object.keys(actions).join(', ')}.`);
    return run(args);
  },
};
