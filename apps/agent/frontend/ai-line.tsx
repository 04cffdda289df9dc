// Which model answers, and how much of the budget is left: one line above the field to write in.
import type { AgentProfile } from '@platform/sdk/browser';
import type { UsedAgent } from './use-agent.ts';
import { tokensInWords } from './words.ts';

export function AiLine({ agent, profile }: { readonly agent: UsedAgent; readonly profile: AgentProfile | undefined }) {
  const { budget, described } = agent;
  const model = profile?.model ?? described.value?.model ?? null;
  const share = shareOf(profile);
  const parts = [
    ...(model === null ? [] : [model.id]),
    ...(budget === undefined ? [] : [`${tokensInWords(budget.left)} tokens left this month`]),
    ...(share === undefined ? [] : [share]),
  ];
  return parts.length === 0 ? null : <p class="quiet small ai-line">{parts.join(' · ')}</p>;
}

function shareOf(profile: AgentProfile | undefined): string | undefined {
  if (profile === undefined || profile.monthlyTokens === null) return undefined;
  const left = Math.max(0, profile.monthlyTokens - profile.usage.tokens);
  return `${tokensInWords(left)} of its own share`;
}
