// What Ingresses counted at public names, for the owners of the apps: requests that passed and refusals, by day.

import { errors, type IngressReport, limits, type PublicTraffic } from '@platform/contract';
import { earlier, type ProvenTime } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import { addRequests, type CountedRequests, deleteRequestsBefore, takeReport } from './report-queries.ts';

/** What is counted of requests that passed. */
const PASSED = 'passed';

/** A report that is repeated counts once. Unknown names and codes are left out: an Ingress is another machine. */
export async function reportTraffic(context: CoreContext, ingressId: string, report: IngressReport): Promise<void> {
  const { ingressDomain } = context.config;
  const counted = report.items.flatMap((item) => countedOf(item, ingressDomain));
  await context.database.transaction().execute(async (trx) => {
    if (!(await takeReport(trx, ingressId, report))) return;
    await addRequests(trx, dayOf(context.clock()), counted);
  });
}

function countedOf({ hostname, requests, refused }: PublicTraffic, domain: string): CountedRequests[] {
  const name = hostname.endsWith(`.${domain}`) ? hostname.slice(0, -domain.length - 1) : '';
  const label = name.slice(name.lastIndexOf('--') + 2);
  const outcomes = Object.entries(refused).filter(([code]) => Object.hasOwn(errors, code));
  return [[PASSED, requests] as const, ...outcomes]
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => ({ label, outcome, count }));
}

/** In UTC, e.g. `2026-11-23`. */
function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** Deletes what is older than `limits.publicRequestDays`. @returns whether there may be more */
export function forgetRequests({ database }: Pick<CoreContext, 'database'>, proven: ProvenTime): Promise<boolean> {
  return deleteRequestsBefore(database, earlier(proven, limits.publicRequestDays.value * 86_400_000));
}
