// Packs a folder into a package: what `platform package` does, for builds that make packages themselves.
export { type PackagePlan, type PlanOptions, planPackage, SDK_NAMES } from './plan-package.ts';
export { writePackage } from './write-package.ts';
