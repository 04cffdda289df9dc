// The configuration of the platform, from its environment to checked values.
export { keepBallast } from '../config/ballast.ts';
export { type DiskSpace, diskSpace, isDiskFull } from '../config/disk-space.ts';
export { type PlatformConfig, readConfiguration, readMasterKey } from '../config/env.ts';
export { readIntelligenceFile } from '../config/intelligence-file.ts';
export { defaultRates } from '../config/rates.ts';
export { findModelServers, MODEL_PLACES } from '../settings/model-servers.ts';
