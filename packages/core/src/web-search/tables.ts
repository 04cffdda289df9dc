// Web search by agents: what their people allowed, and the searches that wait for them.
import type { InstallationId, WebSearchAnswer, WebSearchId } from '@platform/contract';
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    web_search_consents: { installation_id: InstallationId; consent: boolean; version: number; changed_at: Date };
    web_search_sessions: { installation_id: InstallationId; session: string; version: number; granted_at: Date };
    web_search_requests: {
      id: WebSearchId;
      installation_id: InstallationId;
      query: string;
      session: string;
      asked_at: Date;
      expires_at: Date;
      answer: WebSearchAnswer | null;
    };
  }
}

export const tables = {
  web_search_consents: {},
  web_search_sessions: {},
  web_search_requests: {},
} satisfies OwnedTables;
