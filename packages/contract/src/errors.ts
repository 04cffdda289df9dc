// The error table: every refusal a caller can meet, with its status and how a person can act on it.
// docs/errors.md is proven equal to this table by a test.

interface ErrorEntry {
  readonly status: number;
  /** One short sentence, the same for every occurrence (RFC 9457 `title`). */
  readonly title: string;
  /** When it happens and what to do, for docs/errors.md. */
  readonly help: string;
}

export const errors = {
  invalid_request: {
    status: 400,
    title: 'The request is not valid.',
    help: 'A member is missing, unknown or of the wrong type; `errors` lists each with its path. Correct the request.',
  },
  forbidden_material: {
    status: 400,
    title: 'The request contains secret material that must stay on your device.',
    help: 'PRF results, private keys, seeds, recovery phrases and plaintext bundles are refused on account routes. Remove them before sending.',
  },
  invalid_cursor: {
    status: 400,
    title: 'The cursor does not belong to this list.',
    help: 'Use `nextCursor` of the same list with the same filters, or start again without a cursor.',
  },
  invalid_path: {
    status: 400,
    title: 'The path is not in a safe form.',
    help: 'Encoded slashes, dot segments, backslashes, control bytes and broken percent-encoding are refused. Send the plain path.',
  },
  unauthenticated: {
    status: 401,
    title: 'Sign in, or present a valid credential.',
    help: 'No credential was sent, or it is unknown or ended. Sign in again; a workload sends `Authorization: Bearer` with its PLATFORM_GATEWAY_TOKEN.',
  },
  session_expired: {
    status: 401,
    title: 'The session has ended.',
    help: 'Sign in again with your passkey.',
  },
  verification_failed: {
    status: 401,
    title: 'The passkey could not be verified.',
    help: 'Start the ceremony again from its options route. The reason is in the operator log only.',
  },
  origin_not_allowed: {
    status: 403,
    title: 'Requests from this origin are not allowed here.',
    help: 'Open the platform at its configured address (PLATFORM_OS_ORIGIN); a frontend may only use its own capability from its own origin.',
  },
  grant_missing: {
    status: 403,
    title: 'The installation has no grant for this.',
    help: 'Request the permission in the manifest; the account owner grants it in Settings.',
  },
  grants_exceed_request: {
    status: 403,
    title: 'The grants go beyond what the app requested.',
    help: 'Grant only what `requested` covers; `errors` lists each excess grant.',
  },
  not_authorized: {
    status: 403,
    title: 'This is not allowed for this caller.',
    help: 'For example: publishing a version of an app that another account owns.',
  },
  master_account_only: {
    status: 403,
    title: 'Only the master account may do this.',
    help: 'The operator names the master account with PLATFORM_MASTER_ACCOUNT.',
  },
  plan_required: {
    status: 403,
    title: 'This needs a paid, platform-hosted installation.',
    help: 'Move the installation to a plan that includes the service.',
  },
  placement_not_allowed: {
    status: 403,
    title: 'This is not allowed on the node where the workload runs.',
    help: 'Use your own key, or place the installation on a platform-hosted node.',
  },
  not_found: {
    status: 404,
    title: 'There is nothing here.',
    help: 'It does not exist, or it belongs to another account or installation; the answer is the same.',
  },
  method_not_allowed: {
    status: 405,
    title: 'This method is not offered here.',
    help: 'The `Allow` header lists the methods of the route.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body has a media type this route does not take.',
    help: 'Send `Content-Type: application/json` (packages: `application/gzip`).',
  },
  account_name_taken: {
    status: 409,
    title: 'This account name is taken.',
    help: 'Choose another name.',
  },
  workflow_conflict: {
    status: 409,
    title: 'A run with this identity has another input.',
    help: 'Use another idempotency key, or repeat the call with the first input.',
  },
  activity_conflict: {
    status: 409,
    title: 'This step was claimed with another activity or input.',
    help: 'A step keeps its activity name and input for the whole run.',
  },
  activity_leased: {
    status: 409,
    title: 'Another process holds this step.',
    help: 'Wait for `Retry-After` and claim again.',
  },
  lease_lost: {
    status: 409,
    title: 'The lease is no longer yours.',
    help: 'Stop the work; another process may have claimed it.',
  },
  workflow_not_running: {
    status: 409,
    title: 'The run has already ended.',
    help: 'Read the run for its result.',
  },
  already_installed: {
    status: 409,
    title: 'This app is already installed.',
    help: 'Use the upgrade route to change the version.',
  },
  version_exists: {
    status: 409,
    title: 'This version is already published.',
    help: 'Published versions never change. Raise the version and publish again.',
  },
  binding_stale: {
    status: 409,
    title: 'The secret binding no longer matches the declaration.',
    help: 'Review the new declaration and bind the secret again.',
  },
  conversation_conflict: {
    status: 409,
    title: 'The conversation cannot be opened in this state.',
    help: 'List the conversations and use the existing one.',
  },
  payload_too_large: {
    status: 413,
    title: 'The body is too large.',
    help: 'docs/limits.md lists the limit of every route.',
  },
  workflow_input_too_large: {
    status: 413,
    title: 'The workflow input is too large.',
    help: 'Keep inputs within 32 KiB of compact JSON; store larger data elsewhere and pass a reference.',
  },
  workflow_result_too_large: {
    status: 413,
    title: 'The workflow result is too large.',
    help: 'Keep the final result within 64 KiB of compact JSON.',
  },
  unknown_host: {
    status: 421,
    title: 'This host name is not served here.',
    help: 'Use an address of the platform; the operator sets PLATFORM_OS_ORIGIN and PLATFORM_APPS_DOMAIN.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests.',
    help: 'Wait for the seconds in `Retry-After`.',
  },
  budget_exhausted: {
    status: 429,
    title: 'The budget for this month is used up.',
    help: 'The account owner can raise the budget in Settings.',
  },
  activity_limit: {
    status: 429,
    title: 'The run has used all its activities.',
    help: 'A run has at most 256 named activities; continue in a new run.',
  },
  workflow_run_limit: {
    status: 429,
    title: 'Too many runs are running.',
    help: 'Wait until one of the 256 runs ends, or cancel one.',
  },
  concurrency_limited: {
    status: 429,
    title: 'Too many operations at the same time.',
    help: 'Wait for one to finish, then try again.',
  },
  upstream_failed: {
    status: 502,
    title: 'The other side did not give a usable answer.',
    help: 'The workload, provider or core behind the Gateway failed; see the log of the app.',
  },
  upstream_redirect_refused: {
    status: 502,
    title: 'The other side answered with a redirect, which is refused.',
    help: 'Declare the final address in the secret slot.',
  },
  upstream_timeout: {
    status: 504,
    title: 'The other side did not answer in time.',
    help: 'Try again; if it persists, see the log of the app.',
  },
  transport_unavailable: {
    status: 503,
    title: 'The messaging transport is not available.',
    help: 'The operator configures PLATFORM_MESSAGING_BRIDGE_URL and PLATFORM_MESSAGING_BRIDGE_TOKEN together.',
  },
  workload_unavailable: {
    status: 503,
    title: 'The backend of the app is not available.',
    help: 'It is still starting (try again after `Retry-After`), is stopped, failed to start, or does not listen on its PORT. Settings shows the reason and the log.',
  },
  runtime_paused: {
    status: 503,
    title: 'All apps of this account are paused.',
    help: 'Resume them from the paused screen of the shell.',
  },
  unavailable: {
    status: 503,
    title: 'The platform cannot answer right now.',
    help: 'It is starting, stopping or has lost its database. Try again shortly.',
  },
  internal_error: {
    status: 500,
    title: 'Something went wrong on our side.',
    help: 'A bug. The operator finds the cause in the log under the `requestId`.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errors;

export interface FieldError {
  /** JSON path of the member, e.g. `permissions[0].id`; empty for the whole body. */
  readonly path: string;
  readonly message: string;
}

/** RFC 9457 problem document as every part of the platform sends it. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly requestId: string;
  readonly errors?: readonly FieldError[];
}

export interface Refusal {
  readonly code: ErrorCode;
  /** What happened in this case and what to do. Never holds a secret, SQL or a path of the host. Default: the title. */
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
  /** Seconds for `Retry-After`, where waiting helps. */
  readonly retryAfter?: number;
  /** For `method_not_allowed`. */
  readonly allow?: readonly string[];
}

/**
 * A refusal a caller can cause. Thrown inside a request and turned into the problem document in one place;
 * everything else that is thrown is a bug and answers `internal_error`.
 */
export class RefusalError extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(`${refusal.code}: ${refusal.detail ?? errors[refusal.code].title}`);
    this.name = 'RefusalError';
    this.refusal = refusal;
  }
}

export function refuse(code: ErrorCode, detail?: string, more: Omit<Refusal, 'code' | 'detail'> = {}): RefusalError {
  return new RefusalError({ code, ...(detail === undefined ? {} : { detail }), ...more });
}

export function problemOf(refusal: Refusal, requestId: string): Problem {
  const entry = errors[refusal.code];
  return {
    type: `urn:platform:error:${refusal.code}`,
    title: entry.title,
    status: entry.status,
    detail: refusal.detail ?? entry.title,
    code: refusal.code,
    requestId,
    ...(refusal.errors === undefined ? {} : { errors: refusal.errors }),
  };
}
