// What an app proposes to the wallet of its person. Nothing is paid before the person approves it with their passkey.
import type { ProposePayment, ProposePolicy, WalletProposal } from '@platform/contract';
import type { CallOptions, ServiceAccess } from './call-options.ts';
import { callService } from './service-call.ts';

/** Proposals to the wallet. The app learns what became of them, and nothing of balance or history. */
export interface WalletService {
  /**
   * Proposes a payment; the person finds it in Wallet for 24 hours. Proposing again with the same `idempotencyKey` gives the same
   * proposal. Grant `wallet.payment.propose`.
   *
   * @throws {PlatformError} `invalid_request` for a recipient who is no account of this platform; `policy_refused` where the person
   *   limited what this app may propose; `proposal_conflict` for a key of another proposal; `rate_limited` while twenty wait
   */
  proposePayment(payment: ProposePayment, options?: CallOptions): Promise<WalletProposal>;
  /**
   * Proposes a limit on what apps may propose to pay. Grant `wallet.policy.propose`.
   *
   * @throws {PlatformError} as for a payment, but for `policy_refused`
   */
  proposePolicy(policy: ProposePolicy, options?: CallOptions): Promise<WalletProposal>;
  /** What became of a proposal of this app. @throws {PlatformError} `not_found` */
  proposal(id: string, options?: CallOptions): Promise<WalletProposal>;
}

const BASE = '/v1/services/wallet';

/** Proposals to the wallet. */
export function walletService(access: ServiceAccess): WalletService {
  return {
    async proposePayment(body, options) {
      const input = { method: 'POST', path: `${BASE}/payments`, body } as const;
      return (await callService<'services.wallet.payments'>(access, input, options)).proposal;
    },
    async proposePolicy(body, options) {
      const input = { method: 'POST', path: `${BASE}/policies`, body } as const;
      return (await callService<'services.wallet.policies'>(access, input, options)).proposal;
    },
    async proposal(id, options) {
      const input = { method: 'GET', path: `${BASE}/proposals/:id`, parameters: { id } } as const;
      return (await callService<'services.wallet.proposal'>(access, input, options)).proposal;
    },
  };
}
