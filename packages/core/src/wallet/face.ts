// What the operator's commands use of the wallet.
export { creditAccount } from './credit.ts';
export { type KnownKey, readKeys } from './known-keys.ts';
export { moneyText } from './money.ts';
export type { Finding, Rail } from './rail.ts';
export { currencyFault } from './require-currency.ts';
export { verifyExport } from './verify-export.ts';
export { verifyNow } from './verify-ledger.ts';
