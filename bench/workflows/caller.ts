// Claims and completes steps by plain HTTP through a Gateway: the time of each, without that of an SDK.
import { Agent } from 'undici';
import { serveOrders } from './programs.ts';

export interface StepsOrder {
  readonly workflows: number;
  readonly stepsOfEach: number;
  /** Steps that begin in a second, all workflows together. Default: each as soon as the former has ended. */
  readonly perSecond?: number;
}

export interface StepTimes {
  /** Milliseconds of each claim, and of each claim with the completion after it. */
  readonly claims: readonly number[];
  readonly pairs: readonly number[];
  readonly seconds: number;
}

const { PLATFORM_API_URL: api = '', PLATFORM_GATEWAY_TOKEN: token = '' } = process.env;
const agent = new Agent({ connections: null, allowH2: false });
const RUNS = '/v1/services/workflows';
let keys = 0;

async function post<Answer>(path: string, body: object): Promise<Answer> {
  const { statusCode, body: answer } = await agent.request({
    origin: api,
    path,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (statusCode >= 300) throw new Error(`${path} answered ${statusCode}: ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

async function measure({ workflows, stepsOfEach, perSecond }: StepsOrder): Promise<StepTimes> {
  const claims: number[] = [];
  const pairs: number[] = [];
  const ids = await Promise.all(
    Array.from({ length: workflows }, async () => {
      keys += 1;
      const identity = { definition: 'steps', version: 1, idempotencyKey: `steps-${process.pid}-${keys}` };
      return (await post<{ run: { id: string } }>(RUNS, { ...identity, durationSeconds: 3_600 })).run.id;
    }),
  );

  async function step(id: string, name: string): Promise<void> {
    const begun = performance.now();
    const { activity } = await post<{ activity: { id: string; leaseToken: string } }>(
      `${RUNS}/${id}/activities/${name}/claim`,
      { activity: 'charge', input: { cents: 990, seat: 7 } },
    );
    claims.push(performance.now() - begun);
    const { leaseToken } = activity;
    await post(`${RUNS}/${id}/activities/${activity.id}/complete`, { leaseToken, result: { receipt: 'r-7' } });
    pairs.push(performance.now() - begun);
  }

  const started = performance.now();
  async function workflow(id: string, place: number): Promise<void> {
    for (let index = 0; index < stepsOfEach; index += 1) {
      if (perSecond !== undefined) {
        const due = started + ((index * workflows + place) * 1_000) / perSecond;
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      }
      await step(id, `step-${index}`);
    }
  }
  await Promise.all(ids.map(workflow));
  const seconds = (performance.now() - started) / 1_000;
  for (const id of ids) await post(`${RUNS}/${id}/complete`, { status: 'completed', result: null });
  return { claims, pairs, seconds };
}

await serveOrders(measure);
