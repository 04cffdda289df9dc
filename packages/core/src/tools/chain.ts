// Which calls a call was made by: what the hub gives to a backend with a call, and gets back with the calls that the backend makes
// meanwhile. Signed, and bound to the backend that got it.
import { limits, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';

/** The installations that called one another, the first one first; before them may be a connection. */
export type Chain = readonly string[];

type Content = readonly [links: Chain, until: number];

/** Nobody calls on for longer than its own call lasts. */
const LASTS = (limits.toolSeconds.value + 60) * 1_000;

/**
 * The chain of a call with the link of the caller at its end.
 *
 * @param presented what the caller sent, if anything: an expired or foreign one is none
 * @param callee `null` for the platform itself
 * @throws RefusalError `not_authorized` for a chain that is too long or comes back to one of its links
 */
export function lengthen(
  { cursors, clock }: Pick<CoreContext, 'cursors' | 'clock'>,
  caller: string,
  presented: string | undefined,
  callee: string | null,
): Chain {
  const links = [...read(presented), caller];
  if (links.length > limits.toolChain.value)
    throw refuse('not_authorized', `At most ${limits.toolChain.value} tool calls may be made by one another.`);
  if (callee !== null && links.includes(callee))
    throw refuse('not_authorized', 'The app that has this tool is already in the chain of calls that led here.');
  return links;

  function read(text: string | undefined): Chain {
    if (text === undefined || text.length > 2_048) return [];
    try {
      const [before, until] = cursors.decode(listOf(caller), text) as Content;
      return until > clock().getTime() ? before : [];
    } catch {
      return []; // which was not given to this caller
    }
  }
}

/** What the backend of `callee` gets. */
export function present(
  { cursors, clock }: Pick<CoreContext, 'cursors' | 'clock'>,
  chain: Chain,
  callee: string,
): string {
  return cursors.encode(listOf(callee), [chain, clock().getTime() + LASTS] satisfies Content);
}

function listOf(holder: string): string {
  return `tool-chain:${holder}`;
}
