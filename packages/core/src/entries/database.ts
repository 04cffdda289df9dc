// The platform's database without core: opened, brought to the schema of this version, with its master key.
export { timeOf } from '../clock/time-of.ts';
export { openMasterKey, refuseWithoutKey } from '../credentials/master-key-check.ts';
export { migrate, requireMigrated } from '../database/migrate.ts';
export { openDatabase } from '../database/open-database.ts';
export { withConnection } from '../database/with-connection.ts';
export { selectStored } from '../settings/queries.ts';
