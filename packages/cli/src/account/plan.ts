// `platform account plan`: what the operator entitles an account to.
import { type Plan, plans, setPlan } from '@platform/core/operator';
import { UsageError } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { withLocalCore } from '../local/local-core.ts';
import { requireAccount } from '../local/named-account.ts';
import { paint, say } from '../terminal/terminal.ts';

/** @returns the exit code */
export async function setPlanOf([name, wanted, ...rest]: readonly string[]): Promise<number> {
  if (name === undefined || wanted === undefined || rest.length > 0)
    throw new UsageError('Name an account and its plan: ./platform account plan <account name> <free|paid|default>');
  const plan = planNamed(wanted.toLowerCase());
  if (plan === undefined) throw new UsageError(`There is no plan ${wanted}. The plans are free, paid and default.`);
  return withLocalCore(platformConfiguration(), async (context) => {
    const account = await requireAccount(context, name);
    await setPlan(context, account.key, plan);
    const { defaultPlan } = await context.settings.current();
    const said = plan === null ? `the default plan, ${defaultPlan.value}` : `the ${plan} plan`;
    say(`${paint('green', '✓')} ${account.name} has ${said}.`);
    return 0;
  });
}

/** `null` for the default, `undefined` for none of them. */
function planNamed(word: string): Plan | null | undefined {
  return word === 'default' ? null : plans.find((plan) => plan === word);
}
