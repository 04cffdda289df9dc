// Schedules of the account, for the one app that manages them: the platform's own, with the system role
// `schedules.manager-ui`. Every other app is refused with `not_authorized`.
import type { ChangeSchedule, CreateSchedule, Schedule, ScheduleTargetApp } from '@platform/contract';
import type { CallOptions, ServiceAccess } from './call-options.ts';
import { callService } from './service-call.ts';
import type { Page, PageOptions } from './services.ts';

/** Schedules of the account, for the platform's own app that manages them; every other one gets `not_authorized`. */
export interface SchedulesService {
  /** Oldest first. */
  list(options?: PageOptions): Promise<Page<Schedule>>;
  /** One schedule. @throws {PlatformError} `not_found` */
  get(id: string, options?: CallOptions): Promise<Schedule>;
  /**
   * Adds a schedule.
   *
   * @throws {PlatformError} `invalid_request` with the member in `errors`, for example a cron line without any future time;
   *   `schedule_limit` when the account has the maximum number
   */
  create(schedule: CreateSchedule, options?: CallOptions): Promise<Schedule>;
  /** Changes what is named; `enabled` pauses and resumes. */
  change(id: string, change: ChangeSchedule, options?: CallOptions): Promise<Schedule>;
  /** Deletes it, with its runs that wait for delivery. */
  remove(id: string, options?: CallOptions): Promise<void>;
  /** Has it run now, also while it is paused. `lastRun` later holds its outcome. */
  run(id: string, options?: CallOptions): Promise<Schedule>;
  /** The next five times, in UTC. A day must match both of its fields when one begins with `*`, and else either. @throws {PlatformError} `invalid_request` */
  preview(line: { readonly cron: string; readonly timeZone: string }, options?: CallOptions): Promise<string[]>;
  /** Installed apps that declare triggers. */
  targets(options?: CallOptions): Promise<ScheduleTargetApp[]>;
}

const ALL = '/v1/services/schedules';
const ONE = `${ALL}/:scheduleId`;

/** Schedules of the account, for the app that manages them. */
export function schedulesService(access: ServiceAccess): SchedulesService {
  return {
    list({ limit, cursor, ...options } = {}) {
      const input = { method: 'GET', path: ALL, query: { limit, cursor } } as const;
      return callService<'services.schedules.list'>(access, input, options);
    },
    async get(id, options) {
      const input = { method: 'GET', path: ONE, parameters: { scheduleId: id } } as const;
      return (await callService<'services.schedules.read'>(access, input, options)).schedule;
    },
    async create(body, options) {
      const input = { method: 'POST', path: ALL, body } as const;
      return (await callService<'services.schedules.create'>(access, input, options)).schedule;
    },
    async change(id, body, options) {
      const input = { method: 'PATCH', path: ONE, parameters: { scheduleId: id }, body } as const;
      return (await callService<'services.schedules.change'>(access, input, options)).schedule;
    },
    async remove(id, options) {
      const input = { method: 'DELETE', path: ONE, parameters: { scheduleId: id } } as const;
      await callService<'services.schedules.delete'>(access, input, options);
    },
    async run(id, options) {
      const input = { method: 'POST', path: `${ONE}/run`, parameters: { scheduleId: id } } as const;
      return (await callService<'services.schedules.run'>(access, input, options)).schedule;
    },
    async preview(query, options) {
      const input = { method: 'GET', path: `${ALL}/preview`, query: { ...query } } as const;
      return (await callService<'services.schedules.preview'>(access, input, options)).times;
    },
    async targets(options) {
      const targets: ScheduleTargetApp[] = [];
      for (let cursor: string | undefined; ; ) {
        const input = { method: 'GET', path: `${ALL}/targets`, query: { limit: 200, cursor } } as const;
        const page = await callService<'services.schedules.targets'>(access, input, options);
        targets.push(...page.items);
        if (page.nextCursor === null) return targets;
        cursor = page.nextCursor;
      }
    },
  };
}
