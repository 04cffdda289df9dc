export * from '../sdk/browser.js';
