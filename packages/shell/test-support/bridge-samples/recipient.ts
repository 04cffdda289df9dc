import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'recipient'> = {
  'recipient.status': [{}],
  'recipient.seal': [{ plaintext: 'aGVsbG8' }],
  'recipient.open': [{ sealed: 'AQAA' }],
};
