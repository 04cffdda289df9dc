// What tests of the whole system use of the Gateway's insides: services with settings that no platform has.
export { intelligenceService } from '../src/services/intelligence/intelligence-service.ts';
