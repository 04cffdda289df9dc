// Who runs a machine: exactly one of these is a label of every node, given by the operator and never by the machine.
// What may be done on a node depends on it (specification 2.7, 2.9), so an installation never moves across.
/** Each node has exactly one of them. */
export const hostingLabels = ['platform-hosted', 'self-hosted'] as const;
/** One of {@link hostingLabels}. */
export type HostingLabel = (typeof hostingLabels)[number];

/** The label of a node that says who runs it. */
export function hostingOf(labels: readonly string[] | null): string | null {
  return hostingLabels.find((label) => labels?.includes(label)) ?? null;
}
