// The processes of an embedded PostgreSQL, for tests that remove its folder.
export { serverProcesses } from '../src/database/embedded/leftovers.ts';
