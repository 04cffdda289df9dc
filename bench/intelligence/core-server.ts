// Core on a database that is already there, with an app that may use the provider named as argument; prints what the
// app's Gateway is given.
import { startIntelligenceCore } from '../../tests/support/intelligence-world.ts';

const [provider = ''] = process.argv.slice(2);
const world = await startIntelligenceCore(provider, { requestsPerMinute: 1_000_000, monthlyTokens: 1e12 });
const { settings } = await world.start(await world.install('asker', ['openai:*']));
console.log(JSON.stringify({ settings, databaseUrl: world.core.databaseUrl }));
process.once('SIGTERM', () => void world.close());
