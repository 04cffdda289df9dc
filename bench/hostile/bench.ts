// What hostile accounts, backends, frontends and strangers cost everybody else: first all at once, then each attack by itself.
// `BENCH_HOSTILE_SECONDS` shortens the mixed load (default 1,000; 0 leaves it out), `BENCH_HOSTILE_ATTACK_SECONDS` each single
// attack (default 15; 0 leaves them out), and `BENCH_HOSTILE_ATTACK` chooses those whose names contain it.
import { measureMixed } from './mixed.ts';
import { measureSingly } from './singly/measure.ts';

const MIXED_SECONDS = Number(process.env.BENCH_HOSTILE_SECONDS ?? 1_000);
const ATTACK_SECONDS = Number(process.env.BENCH_HOSTILE_ATTACK_SECONDS ?? 15);

if (MIXED_SECONDS > 0) await measureMixed(MIXED_SECONDS);
if (ATTACK_SECONDS > 0) await measureSingly(ATTACK_SECONDS, process.env.BENCH_HOSTILE_ATTACK ?? '');
