// The guide for operators over HTTP: whose turn it is, and what is set up.
import type { DomainRoute } from '@platform/contract';
import { dismissGuide, readGuideState } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { readSetup } from './setup-state.ts';

export function guideRoutes(context: CoreContext): HandlersOf<DomainRoute<'guide'>> {
  return {
    'operator.guide.read': async ({ caller }) => {
      const state = await readGuideState(context, caller);
      const setup = state.standing === 'operator' ? await readSetup(context) : null;
      return { status: 200, body: { ...state, setup } };
    },
    'operator.guide.dismiss': async ({ caller }) => {
      await dismissGuide(context, caller.accountKey);
      return { status: 204 };
    },
  };
}
