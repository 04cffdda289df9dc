// How often an app may put a question before the person: one question at a time, and a refusal is respected.
import { BridgeRefusal } from './refusal.ts';

/** Refusals of one app in one minute after which it has to wait for the minute to pass. */
const REFUSALS = 3;
const MINUTE_MS = 60_000;

export interface AskLimit {
  /**
   * Runs one question of an app. `false` and `null` decline it, as does an answer that says `declined`.
   * @throws BridgeRefusal `concurrency_limited` while another question is open, `rate_limited` after repeated refusals
   */
  ask<Answer>(appId: string, question: () => Promise<Answer>): Promise<Answer>;
}

export function createAskLimit(now: () => number): AskLimit {
  const refusals = new Map<string, number[]>();
  let open = false;
  return {
    async ask(appId, question) {
      if (open) throw new BridgeRefusal('concurrency_limited', 'Another prompt is open. Wait until it is answered.');
      const recent = (refusals.get(appId) ?? []).filter((at) => now() - at < MINUTE_MS);
      if (recent.length >= REFUSALS) {
        throw new BridgeRefusal('rate_limited', 'The person declined several times. Try again in a minute.');
      }
      open = true;
      try {
        const answer = await question();
        const isDeclined = answer === false || Object(answer ?? { declined: true }).declined === true;
        refusals.set(appId, isDeclined ? [...recent, now()] : []);
        return answer;
      } finally {
        open = false;
      }
    },
  };
}
