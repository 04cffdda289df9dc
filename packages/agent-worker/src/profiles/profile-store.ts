// The profiles of the agent: names under which one installation works with instructions, tools and a share of the budget of their own.
// They are in the volume, with what each used this month. docs/decisions/agents.md says what they protect from.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AgentProfile,
  type AgentProfileBody,
  agentProfileBody,
  agents,
  MAIN_PROFILE,
} from '@platform/contract/agents';
import { Refusal } from '../http/refusal.ts';
import { writeWhole } from '../sessions/whole-file.ts';

export type Profile = AgentProfileBody & { readonly id: string };

export interface ProfileStore {
  /** `main` first, then in the order in which they were made. */
  list(): AgentProfile[];
  /** @returns undefined for one that was deleted */
  find(id: string): Profile | undefined;
  /** @throws Refusal when there are as many as there may be, or the name is empty */
  create(body: AgentProfileBody): AgentProfile;
  /** @throws Refusal `not_found` */
  change(id: string, body: AgentProfileBody): AgentProfile;
  /** @throws Refusal `not_found`, and for `main` */
  remove(id: string): void;
  /** Tokens of its share that are left this month; infinite without one, none for a profile that was deleted. */
  left(id: string): number;
  /** @throws Error when the disk does not take it, where it counts until the process ends all the same */
  spend(id: string, tokens: number): void;
}

interface Kept {
  readonly profiles: readonly Profile[];
  readonly usage: { readonly month: string; readonly tokens: Readonly<Record<string, number>> };
}

const MAIN: Profile = { ...agentProfileBody.parse({ name: '' }), id: MAIN_PROFILE };

export function openProfileStore(volume: string, now: () => Date): ProfileStore {
  const file = join(volume, 'profiles.json');
  let kept = read(file);

  const month = () => now().toISOString().slice(0, 7);
  const tokensOf = (id: string) => (kept.usage.month === month() ? (kept.usage.tokens[id] ?? 0) : 0);
  const shown = (profile: Profile): AgentProfile => ({
    ...profile,
    usage: { month: month(), tokens: tokensOf(profile.id) },
  });
  const found = (id: string): Profile => {
    const profile = kept.profiles.find((one) => one.id === id);
    if (profile === undefined) throw new Refusal('not_found', 'There is no such profile.');
    return profile;
  };
  function keepProfiles(profiles: readonly Profile[]): void {
    const next = { ...kept, profiles };
    writeWhole(file, JSON.stringify(next));
    kept = next;
  }

  return {
    list: () => kept.profiles.map(shown),
    find: (id) => kept.profiles.find((one) => one.id === id),
    create(body) {
      if (kept.profiles.length >= agents.limits.agentProfiles.value)
        throw new Refusal('concurrency_limited', 'The agent has as many profiles as it can keep. Delete one first.');
      const profile: Profile = { ...named(body), id: `pro-${randomUUID()}` };
      keepProfiles([...kept.profiles, profile]);
      return shown(profile);
    },
    change(id, body) {
      found(id);
      const profile: Profile = { ...(id === MAIN_PROFILE ? body : named(body)), id };
      keepProfiles(kept.profiles.map((one) => (one.id === id ? profile : one)));
      return shown(profile);
    },
    remove(id) {
      found(id);
      if (id === MAIN_PROFILE) throw new Refusal('invalid_request', 'This profile is always there.');
      keepProfiles(kept.profiles.filter((one) => one.id !== id));
    },
    left(id) {
      const profile = kept.profiles.find((one) => one.id === id);
      if (profile === undefined) return 0;
      const { monthlyTokens: most } = profile;
      return most === null ? Number.POSITIVE_INFINITY : Math.max(0, most - tokensOf(id));
    },
    spend(id, tokens) {
      if (tokens <= 0) return;
      const before = kept.usage.month === month() ? kept.usage.tokens : {};
      kept = { ...kept, usage: { month: month(), tokens: { ...before, [id]: (before[id] ?? 0) + tokens } } };
      writeWhole(file, JSON.stringify(kept));
    },
  };
}

function named(body: AgentProfileBody): AgentProfileBody {
  const name = body.name.trim();
  if (name === '')
    throw new Refusal('invalid_request', 'Give it a name.', {
      errors: [{ path: 'name', message: 'must not be empty' }],
    });
  return { ...body, name };
}

/** What cannot be read must not be taken for nothing, and be written over. @throws Error */
function read(file: string): Kept {
  const none: Kept = { profiles: [MAIN], usage: { month: '', tokens: {} } };
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Kept) : none;
}
