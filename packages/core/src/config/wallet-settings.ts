// The currency of the wallet.
import type { CoreConfig } from './config.ts';
import { type Read, textOf, wrong } from './variables.ts';

const NAME = 'PLATFORM_WALLET_CURRENCY';

export function readWalletSettings(read: Read): Pick<CoreConfig, 'walletCurrency'> {
  const value = textOf(read, NAME);
  const [, code, decimals] = /^([A-Z][A-Z0-9]{2,9}):([0-9])$/.exec(value) ?? [];
  if (code === undefined || decimals === undefined)
    throw wrong(
      NAME,
      `is "${value}"`,
      'set a code of 3 to 10 capital letters and digits, and its decimals, such as EUR:2',
    );
  return { walletCurrency: { code, decimals: Number(decimals) } };
}
