// What apps may use of AI models in a month, and what they used and cost. The owner of an app lowers the operator's limits.
import {
  type AccountIntelligenceUsage,
  type AppIntelligence,
  type InstallationId,
  limits,
  type ModelUse,
  refuse,
} from '@platform/contract';
import type { IntelligenceSettings } from '../config/intelligence-file.ts';
import type { CoreContext } from '../context.ts';
import { selectOwn } from '../installations/face.ts';
import { costOf } from './cost.ts';
import { monthOf } from './month.ts';
import { selectAccountUsage, selectMeter, selectUsage, type UsageRow, updateLimits } from './queries.ts';

/** @throws RefusalError `not_found` */
export async function readAppIntelligence(
  context: CoreContext,
  accountKey: string,
  appId: string,
): Promise<AppIntelligence> {
  return view(context, await requireOwn(context, accountKey, appId));
}

/** What all apps of the account used this month; those removed meanwhile are one. */
export async function readAccountUsage(context: CoreContext, accountKey: string): Promise<AccountIntelligenceUsage> {
  const month = monthOf(context.clock());
  const most = limits.intelligenceUsageModels.value;
  const rows = await selectAccountUsage(context.database, { accountKey, month, most });
  const { intelligence } = await context.settings.current();
  return {
    month: month.slice(0, 7),
    currency: intelligence.currency,
    models: rows.map((row) => ({ appId: row.appId, ...useOf(intelligence, row) })),
  };
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
  const { intelligence } = await context.settings.current();
  for (const name of ['requestsPerMinute', 'monthlyTokens'] as const) {
    if ((lowered[name] ?? 0) > intelligence[name])
      throw refuse('invalid_request', 'A limit can be lowered, not raised above the operator’s.', {
        errors: [{ path: name, message: `must be at most ${intelligence[name]}` }],
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

async function view(context: CoreContext, id: InstallationId): Promise<AppIntelligence> {
  const { database, clock, settings } = context;
  const month = monthOf(clock());
  const [meter, models] = await Promise.all([selectMeter(database, id, month), selectUsage(database, id, month)]);
  const { intelligence } = await settings.current();
  const { requestsPerMinute, monthlyTokens, currency } = intelligence;
  return {
    limits: {
      requestsPerMinute: Math.min(requestsPerMinute, meter?.requestsPerMinute ?? Number.POSITIVE_INFINITY),
      monthlyTokens: Math.min(monthlyTokens, Number(meter?.monthlyTokens ?? Number.POSITIVE_INFINITY)),
    },
    operatorLimits: { requestsPerMinute, monthlyTokens },
    currency,
    usage: {
      month: month.slice(0, 7),
      requests: Number(meter?.requests ?? 0),
      tokens: Number(meter?.used ?? 0),
      reserved: Number(meter?.reserved ?? 0),
      models: models.map((row) => useOf(intelligence, row)),
    },
  };
}

function useOf({ providers }: IntelligenceSettings, { provider, model, ...counted }: UsageRow): ModelUse {
  const inputTokens = Number(counted.inputTokens);
  const outputTokens = Number(counted.outputTokens);
  const prices = providers.find(({ id }) => id === provider)?.models.find(({ id }) => id === model);
  return {
    provider,
    model,
    requests: Number(counted.requests),
    inputTokens,
    outputTokens,
    cost: costOf({ inputTokens, outputTokens }, prices),
  };
}
