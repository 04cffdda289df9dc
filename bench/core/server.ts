// The real core on a database that is already there, with one account signed in; prints where and as whom.
import { registerAccount } from '../../tests/support/client.ts';
import { startConstellation } from '../../tests/support/constellation.ts';

const constellation = await startConstellation();
const { cookie } = await registerAccount(constellation, 'bench');
process.stdout.write(`${JSON.stringify({ port: constellation.port, origin: constellation.origin, cookie })}\n`);
process.once('SIGTERM', () => void constellation.close());
