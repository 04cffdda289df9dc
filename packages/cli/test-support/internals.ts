// Parts of the command line that tests of the whole platform, and benches, use by themselves.

export { commands } from '../src/commands.ts';
export { walkPublicPath } from '../src/doctor/public-path/walk.ts';
export { collectWhenIdle } from '../src/supervisor/idle-collection.ts';
export { RETURNING_MEMORY } from '../src/supervisor/part-process.ts';
export { collectGarbage, releaseStartMemory } from '../src/supervisor/release-start-memory.ts';
