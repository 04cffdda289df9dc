// What `platform doctor --deep` looks at: functions that read, say what they found, and change nothing.
export { examinePackages, type PackageFault } from '../catalog/face.ts';
export { readClocks } from '../clock/read-clocks.ts';
export type { SealedValues } from '../credentials/sealed-values.ts';
export { examinePages, type PageFault } from '../database/examine-pages.ts';
export { isSamePlatform } from '../identity/same-platform.ts';
export { isIngressKey } from '../ingress/face.ts';
export { tryProviderKeys } from '../intelligence/face.ts';
export { tryConversationKeys } from '../messaging/face.ts';
export { findNodeByKey, opensControlCredentials } from '../nodes/face.ts';
export { opensPushKey } from '../push/face.ts';
export { trySecrets } from '../secrets/face.ts';
export { tryPlatformKeys } from '../settings/sealed-key.ts';
