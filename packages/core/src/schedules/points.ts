// Moments of this domain at which a test may stop it.
declare module '../points.ts' {
  interface Points {
    schedules:
      | 'fire.committing'
      | 'fire.committed'
      | 'run.committing'
      | 'run.committed'
      | 'deliver'
      | 'settle.committing'
      | 'settle.committed';
  }
}

export {};
