// `npm run bench`: runs every bench/<name>/bench.ts in a process of its own, one after the other, and prints one table
// with the machine's line. Names as arguments choose single benches: `npm run bench -- gateway`. A bench that this machine
// lacks something for is left out, with a line that says what; if it was chosen by name, nothing runs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, readdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type BenchRow, machineLine } from './machine.ts';
import { lacking } from './needs.ts';

const HERE = new URL('./', import.meta.url);

async function benches(): Promise<string[]> {
  const folders = (await readdir(HERE, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const found: string[] = [];
  for (const { name } of folders) {
    const exists = await access(new URL(`${name}/bench.ts`, HERE)).then(
      () => true,
      () => false,
    );
    if (exists) found.push(name);
  }
  return found.sort();
}

/** Those that can run here, after saying why others cannot. */
async function choose(chosen: readonly string[]): Promise<readonly string[]> {
  const all = await benches();
  const unknown = chosen.filter((name) => !all.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`There is no bench named ${unknown.join(', ')}. There are: ${all.join(', ')}\n`);
    process.exit(2);
  }
  const wanted = chosen.length > 0 ? all.filter((name) => chosen.includes(name)) : all;
  const reasons = wanted.map(lacking).filter((why) => why !== null);
  for (const why of reasons) process.stderr.write(`${why}\n`);
  if (chosen.length > 0 && reasons.length > 0) process.exit(1);
  return wanted.filter((name) => lacking(name) === null);
}

/** The rows of one bench, or `null` when it failed; what it says beside them passes to standard error. */
async function runBench(name: string): Promise<BenchRow[] | null> {
  process.stderr.write(`bench ${name} …\n`);
  const child = spawn(process.execPath, [fileURLToPath(new URL(`${name}/bench.ts`, HERE))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const rows: BenchRow[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const row: BenchRow = JSON.parse(line);
    rows.push(row);
  }
  const [code] = await exited;
  if (code === 0) return rows;
  process.stderr.write(`bench ${name} failed; its own words are above.\n`);
  return null;
}

function tableLine({ name, value, unit, target, pass }: BenchRow): string {
  const figure = Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
  const verdict = pass === null ? '' : pass ? 'yes' : '**no**';
  return `| ${name} | ${figure} ${unit} | ${target ?? ''} | ${verdict} |`;
}

const names = await choose(process.argv.slice(2));
const lines: string[] = [];
for (const name of names) {
  const rows = await runBench(name);
  if (rows === null) process.exitCode = 1;
  else lines.push(...rows.map(tableLine));
}
console.log(['| what | measured | target | met |', '|---|---|---|---|', ...lines, '', machineLine()].join('\n'));
