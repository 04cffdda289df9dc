// Moments of this domain at which a test may stop it.
declare module '../points.ts' {
  interface Points {
    installations:
      | 'install.committing'
      | 'install.committed'
      | 'permissions.committing'
      | 'permissions.committed'
      | 'data.committing'
      | 'data.committed'
      | 'data.deleted'
      | 'uninstall.committing'
      | 'uninstall.committed';
  }
}

export {};
