import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'context'> = {
  'context.get': [{}],
};
