// `platform ingress …`: a machine becomes an Ingress and stays one; the operator looks after the Ingresses.
import { type Command, UsageError } from '../command.ts';
import { joinIngress, startJoinedIngress } from './join.ts';
import { list, printToken, remove } from './manage.ts';

const actions: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  join: joinIngress,
  start: startJoinedIngress,
  token: printToken,
  list,
  remove,
};

export const ingressCommand: Command = {
  summary: 'manage Ingresses: machines that answer the internet for apps',
  usage: `Usage: ./platform ingress <action>

On the machine of core:
  token                        print a token for joining one machine; single use, valid for an hour
  list [--json]                all Ingresses, and whether they are up to date; --json is for programs
  remove <name>                remove an Ingress; it takes no more requests

On another machine:
  join <core-url> <token> [--name <name>]
                               become an Ingress, and run as one until Ctrl-C or SIGTERM
  start                        run as the Ingress this machine already is

\`./platform start\` runs an Ingress beside core (PLATFORM_INGRESS_LISTEN). docs/operations/public.md describes Ingresses.`,
  async run([action = '', ...args]) {
    const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (run === undefined) throw new UsageError(`Name an action: ${Object.keys(actions).join(', ')}.`);
    return run(args);
  },
};
