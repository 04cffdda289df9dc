// Moments of this domain at which a test may stop it.
declare module '../points.ts' {
  interface Points {
    search: 'feed.filled' | 'feed.read' | 'feed.sent' | 'write.committing' | 'write.committed';
  }
}

export {};
