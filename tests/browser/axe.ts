// Asks axe about a page and every frame in it that is shown, the way axe-core gives to those who drive browsers:
// runPartial in each frame, finishRun with what they answered.
import core from 'axe-core';
import type { Frame, Page } from 'playwright-core';

/** In a page where its source ran. */
declare const axe: typeof core;

interface Question {
  readonly context: core.FrameContextObject;
  readonly options: core.RunOptions;
}

/** @throws Error for a frame that is shown and cannot be asked */
export async function violationsIn(page: Page, options: core.RunOptions): Promise<readonly core.Result[]> {
  const partials = await inspect(page.mainFrame(), { context: { include: [], exclude: [] }, options });
  const finish = async ({ partials, options }: { partials: string[]; options: core.RunOptions }) => {
    const { violations } = await axe.finishRun(
      partials.map((partial) => JSON.parse(partial)),
      options,
    );
    return violations;
  };
  return await page.evaluate(finish, { partials, options });
}

/** @returns what the frame answered and then what the frames in it did, as JSON: Playwright's own form takes longer */
async function inspect(frame: Frame, question: Question): Promise<string[]> {
  if (!(await frame.evaluate(() => 'axe' in globalThis))) await frame.evaluate(core.source);
  const ask = async ({ context, options }: Question) => ({
    inner: axe.utils.getFrameContexts(context, options),
    partial: JSON.stringify(await axe.runPartial(context, options)),
  });
  const { inner, partial } = await frame.evaluate(ask, question);
  const answers = [partial];
  for (const { frameSelector, frameContext } of inner)
    answers.push(...(await inspect(await frameAt(frame, frameSelector), { ...question, context: frameContext })));
  return answers;
}

async function frameAt(frame: Frame, selector: core.CrossTreeSelector): Promise<Frame> {
  const element = await frame.evaluateHandle((wanted) => axe.utils.shadowSelect(wanted), selector);
  const inner = await element.asElement()?.contentFrame();
  if (inner == null) throw new Error(`no frame can be asked at ${String(selector)} of ${frame.url()}`);
  return inner;
}
