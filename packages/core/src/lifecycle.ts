// What happens to accounts and installations, and who takes part in it: the domain that begins a change calls its hook
// here, and every domain that keeps something about it follows in the same transaction. None knows the others.
import type { ConfirmedOperation, InstallationId } from '@platform/contract';
import type { Transaction } from 'kysely';
import type { AccountFile, AccountOfFiles } from './account-files.ts';
import type { Changing } from './database/changing.ts';
import type { DatabaseSchema } from './database/schema.ts';
import type { SecurityActor, SecurityEvent } from './security-events.ts';

type Trx = Transaction<DatabaseSchema>;

/** What a person begins to confirm. */
export interface ConfirmationSubject {
  readonly accountKey: string;
  readonly operation: ConfirmedOperation;
  readonly subject: string | null;
}

export interface OwnChallenge {
  readonly challenge: Buffer;
  /** For which it can be used. */
  readonly milliseconds: number;
  /** Until when a confirmation of the same may be begun again, with the same challenge. */
  readonly repeatsUntil: Date;
}

/**
 * Each with a `trx` runs in the transaction of the change, after the rows of the account or installation were changed. What
 * cannot be taken back goes to its `afterCommit`.
 */
export interface Hooks {
  accountCreated?(trx: Trx, account: { readonly key: string; readonly name: string }): Promise<void>;
  /** Its owner paused it, or the operator suspended it. */
  accountPaused?(trx: Changing, accountKey: string): Promise<void>;
  accountResumed?(trx: Trx, accountKey: string): Promise<void>;
  /**
   * It is being deleted. Every row that refers to it or to one of its installations goes with it by itself; a domain
   * implements this for what lies elsewhere or must be ended.
   */
  accountDeleted?(trx: Changing, accountKey: string): Promise<void>;
  /** Its owner is notified of it, whatever they muted. */
  securityEvent?(trx: Trx, by: SecurityActor, event: SecurityEvent): Promise<void>;
  /** What this passkey allowed ends with it. */
  passkeyRemoved?(trx: Changing, passkey: { readonly accountKey: string; readonly passkeyId: string }): Promise<void>;
  /**
   * What a passkey signs to confirm an operation that is about exactly one thing, instead of random bytes; `undefined` for an operation
   * of another domain. @throws RefusalError where there is nothing to confirm
   */
  challengeOf?(confirming: ConfirmationSubject): Promise<OwnChallenge | undefined>;
  /** What it is entitled to changed. */
  planChanged?(trx: Trx, accountKey: string): Promise<void>;
  /** The master account changed what all installations depend on; the answer waits for what ends. */
  settingsChanged?(trx: Changing): Promise<void>;
  /** The AI provider of this id is gone, or at another origin. */
  providerEnded?(trx: Trx, provider: string): Promise<void>;
  /** Its owner stopped its backend. */
  installationStopped?(trx: Trx, id: InstallationId): Promise<void>;
  /**
   * A workload starts. `capabilityHash` is the SHA-256 of the data-plane capability that its node gave it; `null` when a node
   * of a former version gave none.
   */
  workloadStarted?(
    trx: Trx,
    start: { readonly installationId: InstallationId; readonly capabilityHash: Buffer | null },
  ): Promise<void>;
  /** These run another version of their app from now on. */
  upgraded?(trx: Trx, ids: readonly InstallationId[]): Promise<void>;
  /** These sessions were signed out or ended otherwise. */
  sessionsEnded?(trx: Changing, sessionIds: readonly string[]): Promise<void>;
  /** Removed by its owner. */
  installationEnded?(trx: Changing, id: InstallationId): Promise<void>;
  /** Its owner has the data of the app deleted. The backend has been withdrawn from its node. */
  dataDeleted?(trx: Trx, id: InstallationId): Promise<void>;
  /** At the start, before `starting` of the domains that follow: these packages came with the platform and are published. */
  packagesShipped?(hashes: readonly string[]): Promise<void>;
  /** What the domain has of the account, for its export. Read in pieces, outside any transaction; no secret is among it. */
  filesOf?(account: AccountOfFiles): AsyncIterable<AccountFile>;
}

/** The hooks of all domains as one, each run one after the other in the order of the domains. */
export class Lifecycle implements Required<Hooks> {
  #domains: readonly Hooks[] = [];

  /** Called once, when the domains are there. */
  follow(domains: readonly Hooks[]): void {
    this.#domains = domains;
  }

  async accountCreated(...change: Parameters<Required<Hooks>['accountCreated']>): Promise<void> {
    for (const domain of this.#domains) await domain.accountCreated?.(...change);
  }

  async accountPaused(...change: Parameters<Required<Hooks>['accountPaused']>): Promise<void> {
    for (const domain of this.#domains) await domain.accountPaused?.(...change);
  }

  async accountResumed(...change: Parameters<Required<Hooks>['accountResumed']>): Promise<void> {
    for (const domain of this.#domains) await domain.accountResumed?.(...change);
  }

  async accountDeleted(...change: Parameters<Required<Hooks>['accountDeleted']>): Promise<void> {
    for (const domain of this.#domains) await domain.accountDeleted?.(...change);
  }

  async securityEvent(...change: Parameters<Required<Hooks>['securityEvent']>): Promise<void> {
    for (const domain of this.#domains) await domain.securityEvent?.(...change);
  }

  async passkeyRemoved(...change: Parameters<Required<Hooks>['passkeyRemoved']>): Promise<void> {
    for (const domain of this.#domains) await domain.passkeyRemoved?.(...change);
  }

  async challengeOf(confirming: ConfirmationSubject): Promise<OwnChallenge | undefined> {
    for (const domain of this.#domains) {
      const challenge = await domain.challengeOf?.(confirming);
      if (challenge !== undefined) return challenge;
    }
    return undefined;
  }

  async planChanged(...change: Parameters<Required<Hooks>['planChanged']>): Promise<void> {
    for (const domain of this.#domains) await domain.planChanged?.(...change);
  }

  async settingsChanged(...change: Parameters<Required<Hooks>['settingsChanged']>): Promise<void> {
    for (const domain of this.#domains) await domain.settingsChanged?.(...change);
  }

  async providerEnded(...change: Parameters<Required<Hooks>['providerEnded']>): Promise<void> {
    for (const domain of this.#domains) await domain.providerEnded?.(...change);
  }

  async installationStopped(...change: Parameters<Required<Hooks>['installationStopped']>): Promise<void> {
    for (const domain of this.#domains) await domain.installationStopped?.(...change);
  }

  async workloadStarted(...change: Parameters<Required<Hooks>['workloadStarted']>): Promise<void> {
    for (const domain of this.#domains) await domain.workloadStarted?.(...change);
  }

  async upgraded(...change: Parameters<Required<Hooks>['upgraded']>): Promise<void> {
    for (const domain of this.#domains) await domain.upgraded?.(...change);
  }

  async sessionsEnded(...change: Parameters<Required<Hooks>['sessionsEnded']>): Promise<void> {
    for (const domain of this.#domains) await domain.sessionsEnded?.(...change);
  }

  async installationEnded(...change: Parameters<Required<Hooks>['installationEnded']>): Promise<void> {
    for (const domain of this.#domains) await domain.installationEnded?.(...change);
  }

  async dataDeleted(...change: Parameters<Required<Hooks>['dataDeleted']>): Promise<void> {
    for (const domain of this.#domains) await domain.dataDeleted?.(...change);
  }

  async packagesShipped(...shipped: Parameters<Required<Hooks>['packagesShipped']>): Promise<void> {
    for (const domain of this.#domains) await domain.packagesShipped?.(...shipped);
  }

  async *filesOf(account: AccountOfFiles): AsyncGenerator<AccountFile> {
    for (const domain of this.#domains) if (domain.filesOf !== undefined) yield* domain.filesOf(account);
  }
}
