// Schedules over HTTP, for the one app that manages them.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { listPage } from '../http/list-page.ts';
import {
  changeSchedule,
  createSchedule,
  listSchedules,
  listTargets,
  previewTimes,
  readSchedule,
  removeSchedule,
  runNow,
} from './manage-schedules.ts';

export type ScheduleRoute = DomainRoute<'schedules'>;

export function scheduleRoutes(context: CoreContext): HandlersOf<ScheduleRoute> {
  return {
    'services.schedules.list': async ({ caller, query }) => ({
      status: 200,
      body: await listSchedules(context, caller.accountKey, query),
    }),
    'services.schedules.create': async ({ caller, body }) => ({
      status: 201,
      body: { schedule: await createSchedule(context, caller.accountKey, body) },
    }),
    'services.schedules.targets': async ({ caller: { accountKey }, query }) => {
      const items = await listTargets(context, accountKey);
      const list = { name: `targets:${accountKey}`, items, idOf: ({ appId }: (typeof items)[number]) => appId };
      return { status: 200, body: listPage(context, query, list) };
    },
    'services.schedules.preview': async ({ query }) => ({
      status: 200,
      body: { times: previewTimes(context, query) },
    }),
    'services.schedules.read': async ({ caller, params }) => ({
      status: 200,
      body: { schedule: await readSchedule(context, caller.accountKey, params.scheduleId) },
    }),
    'services.schedules.change': async ({ caller, params, body }) => {
      const schedule = { accountKey: caller.accountKey, id: params.scheduleId };
      return { status: 200, body: { schedule: await changeSchedule(context, schedule, body) } };
    },
    'services.schedules.delete': async ({ caller, params }) => {
      await removeSchedule(context, caller.accountKey, params.scheduleId);
      return { status: 204 };
    },
    'services.schedules.run': async ({ caller, params }) => ({
      status: 202,
      body: { schedule: await runNow(context, caller.accountKey, params.scheduleId) },
    }),
  };
}
