// What benches and tests of the whole system use of the Runtime's insides: the bare engine and the bare machine that its
// figures are compared with, and where a log ends up. A test of the Runtime imports the files themselves.
export { insideContainer } from '../src/drivers/docker/base-image.ts';
export { type Engine, labels, openEngine } from '../src/drivers/docker/engine.ts';
export { baseImage, initramfs } from '../src/drivers/microvm/base-image.ts';
export { openImages } from '../src/drivers/microvm/images.ts';
export { qemuArguments } from '../src/drivers/microvm/keeper/qemu.ts';
export { type Acceleration, planMachine } from '../src/drivers/microvm/machine-plan.ts';
export { probeMicrovm } from '../src/drivers/microvm/microvm-driver.ts';
export { enclosed } from '../src/drivers/microvm/places.ts';
export { type Equipment, findEquipment } from '../src/drivers/microvm/requirements.ts';
export { findProgram } from '../src/find-program.ts';
export { openPublicSide } from '../src/listener/public.ts';
export { createLogIntake } from '../src/logs/log-intake.ts';
export { openLogStore } from '../src/logs/log-store.ts';
