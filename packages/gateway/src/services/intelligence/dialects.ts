// The dialects that the Gateway speaks, one line each.
import type { IntelligenceDialect } from '@platform/contract';
import { anthropic } from './anthropic.ts';
import type { Dialect } from './dialect.ts';
import { openai } from './openai.ts';

export const dialects: Readonly<Record<IntelligenceDialect, Dialect>> = { openai, anthropic };
