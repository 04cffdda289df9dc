// The platform's database without core: opened, and brought to the schema of this version.
export { migrate } from '../database/migrate.ts';
export { openDatabase } from '../database/open-database.ts';
