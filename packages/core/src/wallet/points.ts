// Moments of this domain at which a test may stop it.
declare module '../points.ts' {
  interface Points {
    wallet: 'approve.committing' | 'approve.committed';
  }
}

export {};
