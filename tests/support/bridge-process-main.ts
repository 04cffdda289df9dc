// A messaging bridge as a process that a test can kill: its options come in the environment.
import { type BridgeOptions, startBridge } from '@platform/messaging-bridge';

const quiet = () => undefined;
const options = JSON.parse(process.env.TEST_BRIDGE_OPTIONS ?? '') as Omit<BridgeOptions, 'log'>;
await startBridge({ ...options, log: { info: quiet, warn: quiet, error: quiet } });
process.stdout.write('"serving"\n');
process.stdin.on('end', () => process.exit(0)).resume();
