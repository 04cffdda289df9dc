// The worker of an agent: what runs in the sandbox of an app of runtime `agent`. docs/decisions/agents.md says why it is ours,
// and how it gets there.
import { readFileSync } from 'node:fs';
import { createStreams } from './http/events.ts';
import { agentRoutes } from './http/routes.ts';
import { createAgentServer } from './http/server.ts';
import { readSurroundings } from './platform/platform.ts';
import { openOwnProposals } from './profiles/own-proposals.ts';
import { openProfileStore } from './profiles/profile-store.ts';
import { openSessionStore } from './sessions/session-store.ts';
import { openAgent } from './turns/agent.ts';

const { platform, order, port, volume } = readSurroundings(process.env);
const instructions = readFileSync(new URL('instructions.md', import.meta.url), 'utf8');
const now = () => new Date();
const store = openSessionStore(volume, now);
const profiles = openProfileStore(volume, now);
const agent = openAgent({ platform, order, instructions, store, profiles, proposals: openOwnProposals(volume), now });
const streams = createStreams(store);
const server = createAgentServer(agentRoutes({ agent, store, profiles, streams }));
server.listen(port);

process.once('SIGTERM', async () => {
  await agent.stop();
  streams.close();
  server.close();
  server.closeAllConnections();
  process.exit(0);
});
