import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'system'> = {
  'system.invitations': [{}, { limit: 10, cursor: '0' }],
  'system.settings': [{}],
  'system.setup': [{}],
  'system.invite': [{}, { name: 'guest' }],
  'system.uninvite': [{ id: 'inv-0192f0c1-2d3e-7a4b-8c5d-6e7f80910203' }],
  'system.changeAccount': [
    { name: 'guest', change: 'suspend' },
    { name: 'guest', change: 'delete' },
  ],
};
