// The Ingress on one machine and the node on another, each a network namespace, with TLS between them: nothing of the
// node's machine answers but its link, and strangers and open connections get over a cut of the wire. The story itself
// runs inside the first machine (direct-link-story.ts); behind-nat.test.ts has the same over iroh.
import { connectTwoNetworks } from '../support/network-namespaces.ts';
import { testStory } from './two-machines.ts';

testStory('an Ingress reaches a node on another machine over its link alone, and again after a cut', {
  connect: connectTwoNetworks,
  file: 'direct-link-story.ts',
  timeout: 600_000,
});
