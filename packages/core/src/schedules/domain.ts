// The schedule domain: when core calls the triggers of apps, and the delivery of these calls.

import { limits } from '@platform/contract';
import { everyItem, jsonLines } from '../account-files.ts';
import { LeasedWorker } from '../background/leased-worker.ts';
import { earlier } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import type { Domain } from '../domain.ts';
import { openedOf } from '../opened.ts';
import { type DeliveryOptions, DeliveryWork } from './deliver-runs.ts';
import { firingWork } from './fire-due.ts';
import { giveUpAfter, listSchedules } from './manage-schedules.ts';
import { type ScheduleRoute, scheduleRoutes } from './routes.ts';
import { countWaiting, resumeRuns } from './run-queries.ts';
import { countSchedules } from './schedule-queries.ts';
import { scheduleTools } from './tools.ts';

export function scheduleDomain(context: CoreContext, deliveryOptions: DeliveryOptions = {}): Domain<ScheduleRoute> {
  const workers = [
    new LeasedWorker(context, firingWork(context)),
    new LeasedWorker(context, new DeliveryWork(context, deliveryOptions)),
  ];
  return {
    handlers: scheduleRoutes(context),
    tools: scheduleTools,
    opens: {
      'schedules.manage': async ({ accountKey }) => [
        openedOf('schedules', await countSchedules(context.database, accountKey)),
      ],
    },
    workers: deliveryOptions.idle === true ? [] : workers,
    filesOf: ({ accountKey }) =>
      jsonLines(
        'schedules',
        everyItem((cursor) => listSchedules(context, accountKey, { limit: limits.pageMaximum.value, cursor })),
      ),
    gauges: [{ name: 'platform_core_schedule_runs_waiting', read: () => countWaiting(context.database) }],
    async accountResumed(trx, accountKey) {
      const now = context.clock();
      await resumeRuns(trx, accountKey, {
        now,
        lateSince: earlier(context.time.proven(), limits.scheduleLateSeconds.value * 1_000),
        giveUpAt: giveUpAfter(now),
        detail: 'The account was paused before this run was delivered.',
      });
      await notify(trx, 'schedules-changed', {});
    },
  };
}
