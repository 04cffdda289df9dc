// The real core on a database that is already there, with accounts that are signed in and have an app each; prints where
// and as whom.
import type { Grant } from '@platform/contract';
import { registerAccount } from '../../tests/support/client.ts';
import { startConstellation } from '../../tests/support/constellation.ts';
import { installTestApp } from '../../tests/support/installed-app.ts';
import { APP, CALLERS, type SearchAccount, type SearchServer } from './server-line.ts';

const GRANTS: Grant[] = [{ id: 'search.index', resources: ['self'] }];

// Rates are lifted as PLATFORM_RATE_LIMITS would: the constellation's are ten million a minute.
const constellation = await startConstellation();
const accounts: SearchAccount[] = [];
for (let index = 0; index <= CALLERS; index += 1) {
  const account = await registerAccount(constellation, `bench-s${index}`);
  const { credential, installationId } = await installTestApp(constellation, account, APP, GRANTS);
  accounts.push({ cookie: account.cookie, credential, installationId });
}
const { port, origin, databaseUrl } = constellation;
const server: SearchServer = { port, host: new URL(origin).host, databaseUrl, accounts };
process.stdout.write(`${JSON.stringify(server)}\n`);
process.once('SIGTERM', () => void constellation.close());
