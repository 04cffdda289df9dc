// Cold starts of containers, in a network namespace of their own with a dockerd in it: ours through the Gateway, and in
// turns a bare `docker run` of the same server from the same image. Prints its rows; bench.ts runs it.
import { prepareEngine } from '../../packages/runtime/test-support/docker-engine.ts';
import { registerAccount } from '../../tests/support/client.ts';
import { platformPlace, startPlatform } from '../../tests/support/platform-process.ts';
import { atMost, median, percentile, printRow, reported } from '../machine.ts';
import { installHello, openColdStart } from '../platform/hello-app.ts';
import { type BareDocker, openBareDocker } from './bare-docker.ts';

const STARTS = Number(process.env.PLATFORM_BENCH_STARTS ?? 30);
const WARM_UP = 2;

const engine = prepareEngine('ours');
await engine.start();
const place = await platformPlace({
  PLATFORM_RUNTIME_DRIVER: 'docker',
  PLATFORM_RUNTIME_DOCKER_SOCKET: engine.socketPath,
});
try {
  const platform = await startPlatform(place);
  let bare: BareDocker | undefined;
  try {
    bare = await openBareDocker(engine.socketPath);
    const account = await registerAccount(place, 'bench');
    await installHello(place, account);
    const coldStart = await openColdStart(place, account);
    const ours: number[] = [];
    const theirs: number[] = [];
    const theirsByApi: number[] = [];
    for (let start = -WARM_UP; start < STARTS; start += 1) {
      // In turns, so that whatever else happens on the machine happens to all.
      const milliseconds = [await coldStart(), await bare.run(), await bare.byApi()] as const;
      if (start < 0) continue;
      ours.push(milliseconds[0]);
      theirs.push(milliseconds[1]);
      theirsByApi.push(milliseconds[2]);
    }
    printRow(atMost('cold start (docker) to first byte through the Gateway, median', median(ours), 'ms', 700));
    printRow(atMost('the same, 95th percentile', percentile(ours, 95), 'ms', 1_200));
    printRow(reported('bare `docker run` doing the same, median', median(theirs), 'ms'));
    printRow(reported('the same, 95th percentile', percentile(theirs, 95), 'ms'));
    printRow(reported('the same through the API of the engine, median', median(theirsByApi), 'ms'));
    printRow(atMost('our part of a cold start (docker)', median(ours) - median(theirs), 'ms', 80));
  } finally {
    await bare?.close();
    await platform.stop();
  }
} finally {
  await place.remove();
  await engine.remove();
}
