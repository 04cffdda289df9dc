// Errors in the pages of apps that apps made: the page tells this one (packages/sdk/page-errors.js), and core keeps them for who made it. Loaded
// with the first of them.
import { call } from '../../api/client.ts';
import { createCallLimit } from '../bridge/call-limit.ts';
import { findApp } from '../installed-apps.ts';
import { reportIn } from './page-error-report.ts';

const limit = createCallLimit(() => performance.now(), { calls: 20, windowMs: 60_000 });
/** No app made this version of it: nobody would read them. */
const unwanted = new Set<string>();

/**
 * @param data of a message from the frame of the app, which may say anything
 * @throws BridgeRefusal, ApiError: the app works on without it, and says it again with the next error
 */
export async function reportPageError(appId: string, data: unknown): Promise<void> {
  const version = `${appId} ${findApp(appId)?.version}`;
  const report = reportIn(data);
  if (report === null || unwanted.has(version)) return;
  limit.count(appId);
  const { kept } = await call('apps.pageErrors.report', { params: { appId }, body: report });
  if (!kept) unwanted.add(version);
}
