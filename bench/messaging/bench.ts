// Messages between accounts: between those of the platform, and through the messaging bridge.
import { measureBridge } from './bridge.ts';
import { measureBundled } from './bundled.ts';

await measureBundled();
await measureBridge();
process.exit(0);
