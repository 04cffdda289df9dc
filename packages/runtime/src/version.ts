// The version of the Runtime, from its package: the platform's.
import manifest from '../package.json' with { type: 'json' };

export const RUNTIME_VERSION = manifest.version;
