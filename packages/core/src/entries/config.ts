// The configuration of the platform, from its environment to checked values.
export { type PlatformConfig, readConfiguration, readMasterKey } from '../config/env.ts';
export { defaultRates } from '../config/rates.ts';
