// What the shell keeps of an app while it is not loaded: what the app asks it to, and where the app is.

import { BRIDGE_LIMITS } from '@platform/contract';
import { sizeText } from '@platform/contract/sizes';
import type { MethodsOf } from '../method.ts';
import { jsonText, placeText } from '../params.ts';
import { BridgeRefusal } from '../refusal.ts';

export const keptMethods: MethodsOf<'state' | 'place'> = {
  'state.get': {
    params: {},
    run: ({ shell, caller }) => ({ json: shell.stateOf(caller.appId) }),
  },
  'state.set': {
    params: { json: jsonText },
    run: ({ shell, caller, params: { json } }) => {
      const bytes = new TextEncoder().encode(json).length;
      if (bytes > BRIDGE_LIMITS.stateBytes) {
        throw new BridgeRefusal(
          'payload_too_large',
          `The state has ${sizeText(bytes, Math.ceil)} of JSON, and may have ${sizeText(BRIDGE_LIMITS.stateBytes)}.`,
        );
      }
      shell.keepState(caller.appId, json === 'null' ? null : json);
      return null;
    },
  },
  'place.set': {
    params: { place: placeText },
    run: ({ shell, caller, params }) => {
      shell.keepPlace(caller.appId, params.place);
      return null;
    },
  },
};
