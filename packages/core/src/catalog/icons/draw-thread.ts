// A thread that draws one icon for icon-drawer.ts.
import { serveJobs } from '../../background/thread-jobs.ts';
import { type Drawing, drawSvg, startRenderer } from './draw-svg.ts';

serveJobs(async (text: string): Promise<Drawing> => {
  await startRenderer();
  return drawSvg(text);
});
