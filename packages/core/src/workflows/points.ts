// Moments of this domain at which a test may stop it.
declare module '../points.ts' {
  interface Points {
    workflows:
      | 'create.committing'
      | 'create.committed'
      | 'claim.committing'
      | 'claim.committed'
      | 'renew.committing'
      | 'renew.committed'
      | 'settle.committing'
      | 'settle.committed'
      | 'complete.committing'
      | 'complete.committed'
      | 'cancel.committing'
      | 'cancel.committed'
      | 'remove.committing'
      | 'remove.committed'
      | 'expire.committing'
      | 'expire.committed'
      | 'cleanup.committing'
      | 'cleanup.committed';
  }
}

export {};
