// Moments of this domain at which a test may stop it.
declare module '../points.ts' {
  interface Points {
    messaging: 'change.committing' | 'change.committed';
  }
}

export {};
