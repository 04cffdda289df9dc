// The one way to read a request, refuse it, carry it and dial out: what the parts import of this package.
export { endResponse } from './end-response.ts';
export { type AfterRefusal, endWithProblem, sendProblem } from './problem.ts';
