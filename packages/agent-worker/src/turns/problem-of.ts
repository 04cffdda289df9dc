// Why a turn failed, in words for the person, and for the operator where only that one can help.
import type { AgentProblem } from '@platform/contract/agents';
import { isStorageFull } from '../sessions/storage-full.ts';
import { withoutHarmful } from '../tools/foreign-text.ts';
import { HubFailed } from '../tools/hub.ts';

/** Of a provider's words, in characters. */
const MOST_SAID = 300;

/** What the Gateway or the provider answered, as far as it could be read. */
export interface ModelRefusal {
  readonly status: number;
  readonly code: string | undefined;
  readonly detail: string | undefined;
}

export const NO_PROVIDER: AgentProblem = {
  code: 'no_provider',
  message:
    'This agent has no AI provider that it may use, so it cannot answer. See whether you allowed it one in Settings → Apps. If this platform has none at all, ask its operator.',
  operator: 'Name a provider in Fleet → Settings, or in the file of PLATFORM_INTELLIGENCE_FILE.',
};

export const NO_MODEL: AgentProblem = {
  code: 'no_model',
  message:
    'None of the AI providers that this agent may use offers it a model. See in Settings → AI whether a key is set, and in Settings → Apps which models the agent may use.',
  operator: 'See that the provider answers the list of its models, or name models in its settings.',
};

/** The one that the person chose. */
export const MODEL_GONE: AgentProblem = {
  code: 'model_gone',
  message:
    'The model that you chose for this agent is no longer offered. Choose another one where you set up your agents.',
};

/** By the code of the Gateway’s refusal. */
const BY_CODE: Readonly<Record<string, Omit<AgentProblem, 'code'>>> = {
  not_authorized: {
    message: 'There is no key for this AI provider. Set yours in Settings → AI.',
    operator: 'A key of the platform serves everybody who has none.',
  },
  grant_missing: { message: 'You have not allowed this agent to use its model. Change that in Settings → Apps.' },
  placement_not_allowed: {
    message:
      'The platform’s own key is not for the machine that this agent runs on. Set your own key in Settings → AI.',
  },
  budget_exhausted: {
    message: 'This agent has used up its budget of this month. Raise it in Settings → AI, or wait for the next month.',
    operator: 'The most that a person can choose is monthlyTokens of the provider’s settings.',
  },
  rate_limited: { message: 'This agent asks its model too often at the moment. Try again in a minute.' },
};

export function problemOfModel(refusal: ModelRefusal | undefined, message: string): AgentProblem {
  const known = refusal?.code === undefined ? undefined : BY_CODE[refusal.code];
  if (refusal?.code !== undefined && known !== undefined) return { code: refusal.code, ...known };
  if (/context (?:length|window|size)|too long|maximum context/i.test(message))
    return {
      code: 'context_full',
      message: 'This conversation is too long for the model. Begin a new one, or branch from an earlier message.',
    };
  if (refusal?.status === 401)
    return { code: 'key_refused', message: 'The AI provider does not take the key. Set another one in Settings → AI.' };
  if (refusal?.status === 404)
    return {
      code: 'no_model',
      message: 'The AI provider does not know this model. Choose another one, or have the author of the app name one.',
    };
  const said = withoutHarmful(refusal?.detail ?? message)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return {
    code: 'provider_failed',
    message: `The AI provider did not answer${said === '' ? '.' : `. It said: “${said.slice(0, MOST_SAID).toWellFormed()}”`} Try again later.`,
    operator: 'Its address and what it answers are in the log of the Gateway.',
  };
}

export const INTERRUPTED: AgentProblem = {
  code: 'interrupted',
  message:
    'The agent was restarted in the middle of this turn. What it was doing then may have happened or not. Write to it to go on.',
};

export const SESSION_FULL: AgentProblem = {
  code: 'agent_session_full',
  message: 'This session is full, so the agent stopped. Begin another one.',
};

export const SHARE_USED: AgentProblem = {
  code: 'share_exhausted',
  message:
    'This agent has used up its share of this month. Raise it where you set up your agents, or wait for the next month.',
};

export const PROFILE_GONE: AgentProblem = {
  code: 'agent_gone',
  message: 'This agent was deleted, so it stopped. What was said stays. Go on with another one.',
};

export function internalProblem(error: unknown): AgentProblem {
  if (isStorageFull(error))
    return {
      code: 'storage_full',
      message: 'The storage of this agent is full. Delete sessions that you do not need.',
    };
  if (error instanceof HubFailed) {
    process.stderr.write(`${error.message}\n`);
    return { code: 'tools_unavailable', message: 'The tools of your apps cannot be reached. Try again in a minute.' };
  }
  process.stderr.write(`A turn failed: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
  return { code: 'internal_error', message: 'The agent failed. Its log in Settings → Apps says how.' };
}
