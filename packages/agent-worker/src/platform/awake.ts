// Keeps the agent awake while a turn is under way: between two calls, and while a provider asks it to wait, nothing else would.
import type { Platform } from './platform.ts';

const LEASES = '/v1/services/runtime/work-leases';
const DURATION_SECONDS = 60;
const RENEWAL_MILLISECONDS = 20_000;

/** Never rejects: without a lease the turn goes on as long as its calls keep it awake. @returns ends it */
export function stayAwake(platform: Platform): () => void {
  const over = new AbortController();
  let lease: string | undefined;
  const send = async (path: string, method: string, body?: object) => {
    const answer = await platform.fetch(`${platform.origin}${LEASES}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { ok: answer.ok, text };
  };
  const body = { durationSeconds: DURATION_SECONDS, reason: 'The agent is at work.' };
  const renew = async () => {
    const { ok, text } =
      lease === undefined
        ? await send('', 'POST', body)
        : await send(`/${lease}/renew`, 'POST', { durationSeconds: DURATION_SECONDS });
    if (!ok) lease = undefined;
    else if (lease === undefined) lease = (JSON.parse(text) as { lease: { id: string } }).lease.id;
    if (over.signal.aborted) await end();
  };
  const end = async () => {
    const held = lease;
    lease = undefined;
    if (held !== undefined) await send(`/${held}`, 'DELETE');
  };
  const quietly = (work: Promise<void>) => void work.catch(() => undefined);
  quietly(renew());
  const timer = setInterval(() => quietly(renew()), RENEWAL_MILLISECONDS);
  return () => {
    clearInterval(timer);
    over.abort();
    quietly(end());
  };
}
