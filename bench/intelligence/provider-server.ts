// The scripted provider of the tests, alone in its process; prints its origin and certificate.
import { startScriptedProvider } from '../../tests/support/scripted-provider.ts';

const provider = await startScriptedProvider();
console.log(JSON.stringify({ port: Number(new URL(provider.origin).port), cert: provider.cert }));
process.on('SIGTERM', () => void provider.close().then(() => process.exit()));
