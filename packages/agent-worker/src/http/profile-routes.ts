// The routes of the agent's profiles, for the frontend of its app.
import { agentProfileBody } from '@platform/contract/agents';
import type { ProfileStore } from '../profiles/profile-store.ts';
import { readBody } from './read-body.ts';
import type { Routes } from './route.ts';

export function profileRoutes(profiles: ProfileStore): Routes {
  return [
    {
      path: /^\/v1\/agent\/profiles$/,
      methods: {
        GET: async () => ({ status: 200, body: { items: profiles.list() } }),
        async POST({ request }) {
          return { status: 201, body: { profile: profiles.create(await readBody(request, agentProfileBody)) } };
        },
      },
    },
    {
      path: /^\/v1\/agent\/profiles\/(?<id>main|pro-[0-9a-f-]{36})$/,
      methods: {
        async PUT({ id, request }) {
          return { status: 200, body: { profile: profiles.change(id, await readBody(request, agentProfileBody)) } };
        },
        async DELETE({ id }) {
          profiles.remove(id);
          return { status: 204 };
        },
      },
    },
  ];
}
