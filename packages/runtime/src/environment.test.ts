// What a manifest may and may not put into the environment of its workload.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeAssignment } from '../test-support/core-double.ts';
import { gatewayUrls, reservedNames, workloadEnvironment } from './environment.ts';

const assignment = makeAssignment('0'.repeat(64));

function build(environment: Record<string, string>, volume?: string) {
  // Past the manifest's own check, as if an older core had let these names through.
  const workload = { ...assignment.workload, environment };
  const built = { ...assignment, workload };
  const inside = { volume, temporary: '/tmp', port: 8080 };
  return {
    variables: workloadEnvironment({ assignment: built, gatewayCredential: 'pgw_x', appCapability: 'pdc_x', inside }),
    dropped: reservedNames(built),
  };
}

test('names that change how Node or the sandbox starts are left out and reported', () => {
  const reserved = [
    'NODE_OPTIONS',
    'NODE_CHANNEL_FD',
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'GLIBC_TUNABLES',
    'PLATFORM_API_URL',
    'PROVIDER_KEY',
    'PORT',
  ];
  const { variables, dropped } = build(Object.fromEntries(reserved.map((name) => [name, 'evil'])));
  assert.deepEqual(dropped, reserved);
  assert.ok(!Object.values(variables).includes('evil'));
  assert.equal(variables.PORT, '8080');
});

test('everything else of the manifest arrives, and may replace the defaults', () => {
  const { variables, dropped } = build({ NODE_ENV: 'production', TZ: 'Asia/Tokyo' });
  assert.deepEqual(dropped, []);
  assert.equal(variables.NODE_ENV, 'production');
  assert.equal(variables.TZ, 'Asia/Tokyo');
});

test('home is the volume where there is one, else scratch', () => {
  assert.equal(build({}).variables.HOME, '/tmp');
  assert.equal(build({}).variables.PLATFORM_VOLUME_DIR, undefined);
  assert.equal(build({}, '/volume').variables.HOME, '/volume');
  assert.equal(build({}, '/volume').variables.PLATFORM_VOLUME_DIR, '/volume');
});

test('AI providers are led to through the Gateway, with its credential as their key, whatever the manifest says', () => {
  const environment = { OPENAI_API_KEY: 'sk-of-the-package', OPENAI_BASE_URL: 'https://elsewhere.example' };
  const built = {
    ...assignment,
    workload: { ...assignment.workload, environment },
    intelligence: [
      {
        provider: 'models',
        dialect: 'openai' as const,
        environment: { baseUrl: 'OPENAI_BASE_URL', apiKey: 'OPENAI_API_KEY' },
      },
      { provider: 'third', dialect: 'openai' as const, environment: null },
    ],
  };
  const inside = { volume: undefined, temporary: '/tmp', port: 8080 };
  const variables = workloadEnvironment({
    assignment: built,
    gatewayCredential: 'pgw_x',
    appCapability: 'pdc_x',
    inside,
  });
  assert.equal(variables.OPENAI_API_KEY, 'pgw_x');
  assert.deepEqual(gatewayUrls(built), {
    OPENAI_BASE_URL: '/v1/services/intelligence/models',
    PLATFORM_API_URL: '',
  });
});
