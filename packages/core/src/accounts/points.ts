// Moments of this domain at which a test may stop it.
declare module '../points.ts' {
  interface Points {
    accounts: 'delete.committing' | 'delete.committed';
  }
}

export {};
