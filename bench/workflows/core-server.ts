// Core on a database that is already there, with an app that runs workflows; prints what the app's Gateway needs to know.
// Rates are lifted as PLATFORM_RATE_LIMITS would.
import { gatewayPlace } from '../../tests/support/app-gateway.ts';
import { registerAccount } from '../../tests/support/client.ts';
import { startConstellation } from '../../tests/support/constellation.ts';
import { installTestApp } from '../../tests/support/installed-app.ts';
import type { WorkflowServer } from './programs.ts';

const world = await startConstellation();
const app = await installTestApp(world, await registerAccount(world, 'merchant'), 'shop', []);
const { port, databaseUrl } = world;
const server: WorkflowServer = { port, databaseUrl, place: gatewayPlace(world, app) };
process.stdout.write(`${JSON.stringify(server)}\n`);
process.once('SIGTERM', () => void world.close());
