// Recognizes podman, whose API looks like dockerd's but ignores options that isolation needs
// (docs/security/isolation.md).
import type { Engine } from './engine.ts';

const REFUSAL =
  'podman listens here, which gives bridges other names than the packet rules are for and takes no system call filter from us: use dockerd (Debian: apt-get install docker.io).';

/** @throws Error for a person, when the engine is podman */
export async function requireNotPodman(engine: Engine): Promise<void> {
  const { Components = [] } = await engine.version();
  if (Components.some(({ Name }) => /podman/i.test(Name))) throw new Error(REFUSAL);
}
