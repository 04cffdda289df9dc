// The cases about people, in their order: whom an account is to others, whom it writes to, what addresses name.
import { contactCases } from './contact-cases.ts';
import { messagingCases } from './messaging-cases.ts';
import type { Cases } from './tools.ts';

export const peopleCases: Cases = { ...messagingCases, ...contactCases };
