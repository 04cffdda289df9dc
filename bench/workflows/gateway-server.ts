// The Gateway of an app, alone in its process, with what it needs to know as argument; prints the environment of its
// workload.
import { openGateway } from '../../tests/support/app-gateway.ts';
import type { WorkflowGateway } from './programs.ts';

const [place = '{}'] = process.argv.slice(2);
const { environment, close } = await openGateway(JSON.parse(place));
const server: WorkflowGateway = { port: Number(new URL(environment.PLATFORM_API_URL).port), environment };
process.stdout.write(`${JSON.stringify(server)}\n`);
process.once('SIGTERM', () => void close().then(() => process.exit()));
