// The suite as a program: runs every case one after another and prints what came of each as one line of JSON.
// A runtime gets it bundled, beside an installed package of the SDK.
import { PlatformServicesClient } from '@platform/sdk';
import { callCases } from './call-cases.ts';
import { equal } from './checks.ts';
import { contentCases } from './content-cases.ts';
import { serviceCases } from './notification-cases.ts';
import { peopleCases } from './people-cases.ts';
import type { Cases, SuiteTools } from './tools.ts';
import { workflowCases } from './workflow-cases.ts';

const CASE_MILLISECONDS = 60_000;

export interface Place {
  readonly apiUrl: string;
  readonly gatewayToken: string;
  readonly misbehaving: string;
}

/** What came of one case; without `failure` it is kept. */
export interface CaseResult {
  readonly name: string;
  readonly failure?: string;
}

export async function runSuite({ apiUrl, gatewayToken, misbehaving }: Place): Promise<CaseResult[]> {
  const client = new PlatformServicesClient({ apiUrl, gatewayToken });
  const tools: SuiteTools = {
    client,
    environment: { PLATFORM_API_URL: apiUrl, PLATFORM_GATEWAY_TOKEN: gatewayToken },
    misbehaving,
    async advance(milliseconds) {
      await fetch(`${misbehaving}/advance/${milliseconds}`, { method: 'POST' });
    },
  };
  const results: CaseResult[] = [];
  for (const [name, run] of Object.entries(allCases())) {
    const failure = await withinLimit(run(tools)).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? (error.stack ?? String(error)) : String(error)),
    );
    results.push(failure === undefined ? { name } : { name, failure });
  }
  return results;
}

/** A case that hangs is named, and the others still run. No timer, because cases hold those back. */
async function withinLimit(work: Promise<void>): Promise<void> {
  const limit = AbortSignal.timeout(CASE_MILLISECONDS);
  let late = () => {};
  const tooLong = new Promise<never>((_resolve, reject) => {
    late = () => reject(new Error(`it did not end within ${CASE_MILLISECONDS} ms`));
  });
  limit.addEventListener('abort', late);
  try {
    await Promise.race([work, tooLong]);
  } finally {
    // A listener would keep the process alive in Deno.
    limit.removeEventListener('abort', late);
  }
}

export function allCases(): Cases {
  const notifications = Object.entries(serviceCases).map(
    ([name, run]) => [name, ({ client }: SuiteTools) => run({ notifications: client.notifications, equal })] as const,
  );
  return { ...Object.fromEntries(notifications), ...callCases, ...peopleCases, ...contentCases, ...workflowCases };
}
