// What every process of the platform needs before it has read a configuration: its version, the errors that keep it from
// starting, the lock on its data folder. Loads nothing else, since each of several processes pays for it.
export { isPlatformAppId } from '../catalog/face.ts';
export { keepToOwner } from '../config/close-folder.ts';
export { openDataFolder } from '../config/data-folder.ts';
export { reasonOf, StartError, systemCode } from '../config/start-error.ts';
export { dyingWithUs } from '../database/embedded/dying-with-us.ts';
export { requireFolder } from '../identity/require-folder.ts';
export { errorInWords } from '../log-error.ts';
export { PLATFORM_VERSION } from '../version.ts';
