// What the rest of core may use of fleet.
export { listAccountsWithUse } from './list-accounts.ts';
export { nameOperator } from './name-operator.ts';
