// That amounts mean what they meant: they are minor units, so a currency keeps its decimals.
import { StartError } from '../config/start-error.ts';
import type { CoreContext } from '../context.ts';
import { decimalsOf, hasAmounts, keepDecimals } from './currency-queries.ts';

type Context = Pick<CoreContext, 'database'> & { readonly config: Pick<CoreContext['config'], 'walletCurrency'> };

/** @returns why the platform does not start with this currency; `null` where it does */
export async function currencyFault({ database, config }: Context): Promise<string | null> {
  const { code, decimals } = config.walletCurrency;
  const kept = await decimalsOf(database, code);
  if (kept === undefined || kept === decimals || !(await hasAmounts(database, code))) return null;
  return (
    `PLATFORM_WALLET_CURRENCY is ${code}:${decimals}, and amounts of ${code} were stored with ${kept} decimals: they would mean ` +
    `something else. Set PLATFORM_WALLET_CURRENCY to ${code}:${kept}, or to another code for another currency.`
  );
}

/** @throws StartError for a currency whose amounts were stored with other decimals */
export async function requireCurrency(context: Context): Promise<void> {
  const fault = await currencyFault(context);
  if (fault !== null) throw new StartError('wallet_currency_changed', fault);
  const { code, decimals } = context.config.walletCurrency;
  await keepDecimals(context.database, code, decimals);
}
