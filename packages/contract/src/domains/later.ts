// Refusals of services that are specified and not there yet. Each moves to the file of its domain with the service.
import type { Errors } from '../domain.ts';

const errors = {
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
