// What an app may use of AI models in a month and used of it. Its owner lowers the operator's limits.
import { type AppIntelligence, type InstallationId, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { selectOwn } from '../installations/queries.ts';
import { monthOf } from './month.ts';
import { selectMeter, selectUsage, updateLimits } from './queries.ts';

/** @throws RefusalError `not_found` */
export async function readAppIntelligence(
  context: CoreContext,
  accountKey: string,
  appId: string,
): Promise<AppIntelligence> {
  return view(context, await requireOwn(context, accountKey, appId));
}

/** @throws RefusalError `not_found`, `invalid_request` for a limit above the operator's */
export async function limitApp(
  context: CoreContext,
  accountKey: string,
  appId: string,
  lowered: {
    readonly requestsPerMinute?: number | null | undefined;
    readonly monthlyTokens?: number | null | undefined;
  },
): Promise<AppIntelligence> {
  const id = await requireOwn(context, accountKey, appId);
  const { settings } = context.intelligence;
  for (const name of ['requestsPerMinute', 'monthlyTokens'] as const) {
    if ((lowered[name] ?? 0) > settings[name])
      throw refuse('invalid_request', 'A limit can be lowered, not raised above the operator’s.', {
        errors: [{ path: name, message: `must be at most ${settings[name]}` }],
      });
  }
  const now = context.clock();
  await updateLimits(context.database, id, {
    requestsPerMinute: lowered.requestsPerMinute,
    monthlyTokens: lowered.monthlyTokens,
    now,
    month: monthOf(now),
  });
  return view(context, id);
}

async function requireOwn({ database }: CoreContext, accountKey: string, appId: string): Promise<InstallationId> {
  const own = await selectOwn(database, accountKey, appId);
  if (own === undefined) throw refuse('not_found');
  return own.id;
}

async function view({ database, clock, intelligence }: CoreContext, id: InstallationId): Promise<AppIntelligence> {
  const month = monthOf(clock());
  const [meter, models] = await Promise.all([selectMeter(database, id, month), selectUsage(database, id, month)]);
  const { settings } = intelligence;
  return {
    limits: {
      requestsPerMinute: Math.min(settings.requestsPerMinute, meter?.requestsPerMinute ?? Number.POSITIVE_INFINITY),
      monthlyTokens: Math.min(settings.monthlyTokens, Number(meter?.monthlyTokens ?? Number.POSITIVE_INFINITY)),
    },
    usage: {
      month: month.slice(0, 7),
      requests: Number(meter?.requests ?? 0),
      tokens: Number(meter?.used ?? 0),
      reserved: Number(meter?.reserved ?? 0),
      models: models.map(({ provider, model, requests, inputTokens, outputTokens }) => ({
        provider,
        model,
        requests: Number(requests),
        inputTokens: Number(inputTokens),
        outputTokens: Number(outputTokens),
      })),
    },
  };
}
