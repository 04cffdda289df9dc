// The real core on a database that is already there, with accounts that have one app each; prints where and as whom.
import { type Grant, limits } from '@platform/contract';
import { registerAccount } from '../../tests/support/client.ts';
import { startConstellation } from '../../tests/support/constellation.ts';
import { installTestApp } from '../../tests/support/installed-app.ts';
import type { BenchAccount, BenchServer } from './accounts.ts';

/** As many as 1,000 streams need. */
const ACCOUNTS = Math.ceil(1_000 / limits.eventStreams.value);
const GRANTS: Grant[] = [{ id: 'notifications.publish', resources: ['*'] }];

// Rates are lifted as PLATFORM_RATE_LIMITS would: the constellation's are ten million a minute.
const constellation = await startConstellation();
const accounts: BenchAccount[] = [];
for (let index = 0; index < ACCOUNTS; index += 1) {
  const account = await registerAccount(constellation, `bench-n${index}`);
  const { credential } = await installTestApp(constellation, account, 'sender', GRANTS);
  accounts.push({ cookie: account.cookie, credential });
}
const server: BenchServer = { port: constellation.port, host: new URL(constellation.origin).host, accounts };
process.stdout.write(`${JSON.stringify(server)}\n`);
process.once('SIGTERM', () => void constellation.close());
