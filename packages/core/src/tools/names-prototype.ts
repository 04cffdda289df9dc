// A member `__proto__` anywhere in a value. Validators take it for one that every schema knows, or drop it: what was shown and checked would
// differ from what is done.

export function namesPrototype(value: unknown): boolean {
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next !== 'object' || next === null) continue;
    if (Object.hasOwn(next, '__proto__')) return true;
    for (const one of Object.values(next)) rest.push(one);
  }
  return false;
}
