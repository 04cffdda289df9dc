// A process of its own that makes one attack until its standard input ends; then it prints how often it was answered what, as
// one line of JSON. Arguments: the name of the attack and its scene.
import { attackTools } from './attack-tools.ts';
import { attacks } from './attacks.ts';
import type { Scene } from './scene.ts';

const [name = '', given = '{}'] = process.argv.slice(2);
const scene: Scene = JSON.parse(given);
const tools = attackTools(scene.seconds);
attacks[name]?.(scene, tools);
process.stdin.resume().on('end', async () => {
  process.stdout.write(`${JSON.stringify(await tools.ended())}\n`, () => process.exit(0));
});
