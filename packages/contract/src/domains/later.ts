// Refusals of services that are specified and not there yet. Each moves to the file of its domain with the service.
import type { Errors } from '../domain.ts';

const errors = {
  workflow_conflict: {
    status: 409,
    title: 'A run with this idempotency key has a different input.',
    help: 'Use another idempotency key, or repeat the call with the first input.',
  },
  activity_conflict: {
    status: 409,
    title: 'This step was claimed with a different activity or input.',
    help: 'A step keeps its activity name and input for the whole run.',
  },
  activity_leased: {
    status: 409,
    title: 'Another process has claimed this step.',
    help: 'Wait for `Retry-After` and claim again.',
  },
  lease_lost: {
    status: 409,
    title: 'The lease has expired or moved to another process.',
    help: 'Stop the work; another process may have claimed it.',
  },
  workflow_not_running: {
    status: 409,
    title: 'The run has already ended.',
    help: 'Read the run for its result.',
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
  activity_limit: {
    status: 429,
    title: 'The run has reached its activity limit.',
    help: 'A run has at most 256 named activities; continue in a new run.',
  },
  workflow_run_limit: {
    status: 429,
    title: 'Too many runs are running.',
    help: 'Wait until one of the 256 runs ends, or cancel one.',
  },
  conversation_conflict: {
    status: 409,
    title: 'The conversation cannot be opened in this state.',
    help: 'List the conversations and use the existing one.',
  },
  transport_unavailable: {
    status: 503,
    title: 'The messaging transport is not available.',
    help: 'The operator must configure PLATFORM_MESSAGING_BRIDGE_URL and PLATFORM_MESSAGING_BRIDGE_TOKEN together.',
  },
} as const satisfies Errors;

export const later = { errors } as const;
