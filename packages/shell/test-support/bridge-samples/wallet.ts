import type { SamplesOf } from '../samples-of.ts';

const ID = '0192f0c1-2d3e-7a4b-8c5d-6e7f80910203';

export const samples: SamplesOf<'wallet'> = {
  'wallet.proposePayment': [{ to: 'ben', amount: { currency: 'CREDIT', value: '250' }, idempotencyKey: 'order-7' }],
  'wallet.proposePolicy': [
    { name: 'Friends', currency: 'CREDIT', perPayment: '500', recipients: ['ben'], idempotencyKey: 'limits-1' },
  ],
  'wallet.read': [{}],
  'wallet.entries': [{}, { search: 'lunch' }],
  'wallet.proposals': [{}],
  'wallet.review': [{ id: `wpr-${ID}` }],
  'wallet.policies': [{}],
  'wallet.removePolicy': [{ id: `pol-${ID}` }],
  'wallet.receipt': [{ id: `rcp-${ID}` }],
  'wallet.export': [{ format: 'csv' }],
};
