// Which profile proposed what. To the platform all proposals of the agent are of one app; here a profile with some tools alone learns of
// its own, and of no other's arguments and results.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../sessions/whole-file.ts';
import type { OfferedTool, Outcome } from '../tools/agent-tool.ts';

export interface OwnProposals {
  /** @throws Error when the disk does not take it, where it counts until the process ends all the same */
  note(profile: string, id: string): void;
  has(profile: string, id: string): boolean;
}

/** More than the platform keeps of one app. */
const MOST = 200;

export function openOwnProposals(volume: string): OwnProposals {
  const file = join(volume, 'proposals.json');
  let kept = read(file);
  return {
    note(profile, id) {
      kept = [...kept, [id, profile] as const].slice(-MOST);
      writeWhole(file, JSON.stringify(kept));
    },
    has: (profile, id) => kept.some(([known, owner]) => known === id && owner === profile),
  };
}

/** What cannot be read is nobody's. */
function read(file: string): (readonly [id: string, profile: string])[] {
  if (!existsSync(file)) return [];
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    process.stderr.write(`What the profiles of this agent proposed cannot be read: ${error}\n`);
    return [];
  }
}

const OF_PROPOSALS = 'platform-proposals.';

export function isOfProposals(tool: string): boolean {
  return tool.startsWith(OF_PROPOSALS);
}

/** The tool, which notes what it proposes. */
export function noting(tool: OfferedTool, note: (id: string) => void): OfferedTool {
  return {
    ...tool,
    async call(...asked) {
      const outcome = await tool.call(...asked);
      if (outcome.proposal !== undefined) note(outcome.proposal.id);
      return outcome;
    },
  };
}

/** A tool of the platform's about proposals, for these alone. */
export function ofOwn(tool: OfferedTool, isOwn: (id: string) => boolean): OfferedTool {
  return {
    ...tool,
    async call(args, context) {
      const { id } = args;
      if (id !== undefined && !(typeof id === 'string' && isOwn(id))) throw new Error('There is no such proposal.');
      const outcome = await tool.call(args, context);
      // Whatever names no proposal may tell of all.
      return id === undefined && !outcome.isError ? ownOf(outcome, isOwn) : outcome;
    },
  };
}

/** @throws Error when it is no list of proposals */
function ownOf(outcome: Outcome, isOwn: (id: string) => boolean): Outcome {
  const page = JSON.parse(outcome.text) as { readonly items: readonly { readonly id: string }[] };
  return { ...outcome, text: JSON.stringify({ ...page, items: page.items.filter(({ id }) => isOwn(id)) }) };
}
