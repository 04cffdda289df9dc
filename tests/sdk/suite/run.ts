// The suite as a program: runs every case one after another and prints what came of each as one line of JSON.
// A runtime gets it bundled, beside an installed package of the SDK.
import { PlatformServicesClient } from '@platform/sdk';
import { callCases } from './call-cases.ts';
import { equal } from './checks.ts';
import { serviceCases } from './notification-cases.ts';
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
    const failure = await Promise.race([run(tools), tooLong()]).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? (error.stack ?? String(error)) : String(error)),
    );
    results.push(failure === undefined ? { name } : { name, failure });
  }
  return results;
}

/** A case that hangs is named, and the others still run. No timer, because cases hold those back. */
function tooLong(): Promise<never> {
  const limit = AbortSignal.timeout(CASE_MILLISECONDS);
  return new Promise((_resolve, reject) =>
    limit.addEventListener('abort', () => reject(new Error(`it did not end within ${CASE_MILLISECONDS} ms`))),
  );
}

export function allCases(): Cases {
  const notifications = Object.entries(serviceCases).map(
    ([name, run]) => [name, ({ client }: SuiteTools) => run({ notifications: client.notifications, equal })] as const,
  );
  return { ...Object.fromEntries(notifications), ...callCases, ...workflowCases };
}
