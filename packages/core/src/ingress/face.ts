// What the rest of core may use of ingress.
export {
  createIngressToken,
  ensureLocalIngress,
  type IngressRow,
  isIngressKey,
  type LocalIngress,
  type LocalIngressOptions,
  listIngresses,
  removeIngress,
} from './ingresses.ts';
