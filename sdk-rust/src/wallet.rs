//! What an app proposes to the wallet of its person. Nothing is paid before the person approves it with their passkey.

use crate::call::{Access, Call};
use crate::error::Result;
use crate::wire::{ProposePayment, ProposePolicy, WalletProposal, WalletProposalAnswer, routes};

/// Proposals to the wallet. The app learns what became of them, and nothing of balance or history.
#[derive(Clone, Copy, Debug)]
pub struct Wallet<'a> {
    pub(crate) access: &'a Access,
}

impl Wallet<'_> {
    /// Proposes a payment; the person finds it in Wallet for 24 hours. Proposing again with the same `idempotency_key` gives the
    /// same proposal. Grant `wallet.payment.propose`.
    ///
    /// # Errors
    ///
    /// `invalid_request` for a recipient who is no account of this platform, `policy_refused` where the person limited what this
    /// app may propose, `proposal_conflict` for a key of another proposal, `rate_limited` while twenty wait.
    pub async fn propose_payment(&self, payment: &ProposePayment) -> Result<WalletProposal> {
        self.propose(Call::new(&routes::WALLET_PAYMENTS).body(payment)?).await
    }

    /// Proposes a limit on what apps may propose to pay. Grant `wallet.policy.propose`.
    ///
    /// # Errors
    ///
    /// As for a payment, but for `policy_refused`.
    pub async fn propose_policy(&self, policy: &ProposePolicy) -> Result<WalletProposal> {
        self.propose(Call::new(&routes::WALLET_POLICIES).body(policy)?).await
    }

    /// What became of a proposal of this app.
    ///
    /// # Errors
    ///
    /// `not_found`.
    pub async fn proposal(&self, id: &str) -> Result<WalletProposal> {
        self.propose(Call::new(&routes::WALLET_PROPOSAL).parameter(id)).await
    }

    /// Its idempotency key makes a proposal that is sent again the same one.
    async fn propose(&self, call: Call<'_>) -> Result<WalletProposal> {
        let answer: WalletProposalAnswer = self.access.json(call.repeatable(true)).await?;
        Ok(answer.proposal)
    }
}
