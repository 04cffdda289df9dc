// What an app uses of AI models, for the app itself.
import type { MethodsOf } from '../method.ts';

export const intelligenceMethods: MethodsOf<'intelligence'> = {
  'intelligence.usage': {
    params: {},
    async run({ shell, caller: { appId } }) {
      const { limits, usage } = await shell.call('apps.intelligence.read', { params: { appId } });
      // Not which models it was, nor what they cost the person.
      const { month, tokens, reserved } = usage;
      return { limits: { monthlyTokens: limits.monthlyTokens }, usage: { month, tokens, reserved } };
    },
  },
};
