// What the form holds: kept as text while the person is elsewhere, and made into what the platform stores.
import {
  type ChangeSchedule,
  type CreateSchedule,
  PlatformError,
  type Schedule,
  type ScheduleTargetApp,
} from '@platform/sdk/browser';
import { cronOf, FIRST, type When, whenOf, zoneHere } from './when.ts';
import { todaysName } from './zone-names.ts';

export interface Draft {
  /** Of the schedule that is changed; `null` for a new one. */
  readonly id: string | null;
  readonly name: string;
  readonly target: Schedule['target'];
  readonly when: When;
  readonly timeZone: string;
  readonly misfire: Schedule['misfire'];
  /** JSON, or nothing. */
  readonly payload: string;
}

export function newDraft([first]: readonly ScheduleTargetApp[]): Draft {
  const target = { appId: first?.appId ?? '', trigger: first?.triggers[0] ?? '' };
  return { id: null, name: '', target, when: FIRST, timeZone: zoneHere(), misfire: 'once', payload: '' };
}

export function draftOf({ id, name, target, cron, timeZone, misfire, payload }: Schedule): Draft {
  const text = payload === undefined ? '' : JSON.stringify(payload, null, 2);
  return { id, name, target, when: whenOf(cron), timeZone: todaysName(timeZone), misfire, payload: text };
}

/** The forms that were begun: one for each schedule, and one for a new one. */
export interface Drafts {
  /** The one that is shown, by its key; the others wait. */
  readonly open: string | null;
  readonly all: Readonly<Record<string, Draft>>;
}

const NONE: Drafts = { open: null, all: {} };

export const keyOf = (id: string | null) => id ?? 'new';

/** What this app kept itself, of this version or a former one. */
export function readDrafts(text: string): Drafts {
  try {
    const { open, all } = JSON.parse(text) as Drafts;
    const isDraft = (draft: Draft) => typeof draft.when.repeats === 'string' && typeof draft.payload === 'string';
    return Object.values(all).every(isDraft) ? { open, all } : NONE;
  } catch {
    return NONE;
  }
}

export function withDraft({ all }: Drafts, draft: Draft): Drafts {
  const key = keyOf(draft.id);
  return { open: key, all: { ...all, [key]: draft } };
}

export function withoutDraft({ all }: Drafts, key: string): Drafts {
  return { open: null, all: Object.fromEntries(Object.entries(all).filter(([each]) => each !== key)) };
}

export function sameDraft(one: Draft, other: Draft): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** @throws Error in plain words for a payload that is no JSON object */
export function created(draft: Draft): CreateSchedule {
  const { name, target, when, timeZone, misfire } = draft;
  const payload = payloadOf(draft);
  return { name, target, cron: cronOf(when), timeZone, misfire, ...(payload === null ? {} : { payload }) };
}

/** The target only when it is another: the app of the present one may be gone. @throws as `created` */
export function changed(draft: Draft, former: Schedule): ChangeSchedule {
  const { name, target, when, timeZone, misfire } = draft;
  const same = target.appId === former.target.appId && target.trigger === former.target.trigger;
  const rest = { name, cron: cronOf(when), timeZone, misfire, payload: payloadOf(draft) };
  return same ? rest : { ...rest, target };
}

function payloadOf({ payload }: Draft): Record<string, unknown> | null {
  if (payload.trim() === '') return null;
  const found = parsed(payload);
  if (typeof found !== 'object' || found === null || Array.isArray(found))
    throw new PlatformError({
      code: 'invalid_request',
      detail: 'The data for the app must be a JSON object, such as {"report": "full"}.',
    });
  return found as Record<string, unknown>;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
