// Two machines, each a network namespace: a backend is placed, its machine dies, is cut off and comes back, and at no
// moment do two of them write to its volume. The story itself runs inside the first machine (two-nodes-story.ts).
import { connectTwoNetworks } from '../support/network-namespaces.ts';
import { testStory } from './two-machines.ts';

testStory('a backend follows its volume from machine to machine, and two never write to it', {
  connect: connectTwoNetworks,
  file: 'two-nodes-story.ts',
  timeout: 600_000,
});
