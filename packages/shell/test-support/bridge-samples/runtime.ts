import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'runtime'> = {
  'runtime.status': [{}, { appId: 'notes' }],
  'runtime.pause': [{}],
};
