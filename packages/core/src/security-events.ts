// What an account's owner is notified of because it gave or took lasting power over the account, or sent its secrets somewhere
// new (docs/security/confirmations.md). A domain that does such a thing calls `lifecycle.securityEvent` in its transaction.

/** Who did it: an account, in one of its sessions. */
export interface SecurityActor {
  readonly accountKey: string;
  readonly sessionId: string;
}

export type SecurityEvent =
  | { readonly kind: 'passkey-added'; readonly label: string }
  | { readonly kind: 'passkey-removed'; readonly label: string }
  /** A link of the operator for recovery added a passkey. */
  | { readonly kind: 'recovery-link-used'; readonly label: string }
  /** What apps encrypt for the person is sealed for another key from now on. */
  | { readonly kind: 'recipient-replaced' }
  /** `machine` as it named itself. */
  | { readonly kind: 'command-line-allowed'; readonly machine: string }
  /** `client` as it named itself, `host` where it is; a loopback one for a program on the person's computer. */
  | { readonly kind: 'client-connected'; readonly client: string; readonly host: string }
  | { readonly kind: 'export-taken' }
  /** At the console it was made the account that looks after the platform. */
  | { readonly kind: 'operator-named' }
  | { readonly kind: 'operator-withdrawn' }
  | { readonly kind: 'deletion-requested'; readonly deletesAt: string }
  /** To an origin to which it could not be sent before. */
  | { readonly kind: 'secret-bound'; readonly secret: string; readonly origin: string; readonly appName: string };
