// The choices of the form and cron lines lead to each other, and lines are said in words that hold for them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cronOf, daysRuleOf, FIRST, whenOf, wordsOf, zones } from './when.ts';

const WORDS: readonly (readonly [string, string])[] = [
  ['0 8 * * *', 'Every day at 08:00'],
  ['5 23 * * 1-5', 'Monday to Friday at 23:05'],
  ['30 7 * * 6', 'Every Saturday at 07:30'],
  ['0 0 * * 0', 'Every Sunday at 00:00'],
  ['15 9 31 * *', 'Every month on day 31 at 09:15'],
  ['0 * * * *', 'Every hour, on the hour'],
  ['20 * * * *', 'Every hour, 20 min past'],
  ['* * * * *', 'Every minute'],
  ['*/1 * * * *', 'Every minute'],
  ['*/15 * * * *', 'Every 15 minutes'],
  ['*/7 * * * *', 'Cron line */7 * * * *'],
  ['*/0 * * * *', 'Cron line */0 * * * *'],
  ['0 8 1 * 1', 'Cron line 0 8 1 * 1'],
  ['0 8 * 1 *', 'Cron line 0 8 * 1 *'],
  ['0 8,12 * * *', 'Cron line 0 8,12 * * *'],
  ['0 8 * * 7', 'Cron line 0 8 * * 7'],
  ['0 8 * * MON', 'Cron line 0 8 * * MON'],
];
for (const [cron, words] of WORDS) test(`${cron}: ${words}`, () => assert.equal(wordsOf(cron), words));

test('what the form offers leads to a cron line and back', () => {
  const times = { time: '06:45', minute: '45', weekday: '3', date: '28' };
  for (const repeats of ['hour', 'day', 'weekdays', 'week', 'month', 'custom'] as const) {
    const when = { ...FIRST, ...times, repeats };
    const cron = cronOf(when);
    assert.match(cron, /^\S+ \S+ \S+ \S+ \S+$/);
    assert.equal(cronOf(whenOf(cron)), cron);
    if (repeats !== 'custom') assert.equal(whenOf(cron).repeats, repeats);
  }
});

test('a line that names both kinds of days says how they go together', () => {
  for (const cron of ['0 8 */2 * MON', '0 8 1-7 * */2', '0 8 *,13 * 5', '0  8 */2 * */3 '])
    assert.match(daysRuleOf(cron) ?? '', /match both day fields, because one begins with \*/, cron);
  for (const cron of ['0 8 13 * 5', '0 8 1-31/2 * MON', '0 8 13,*/2 * 5'])
    assert.match(daysRuleOf(cron) ?? '', /match either/, cron);
  for (const cron of ['0 8 * * 1', '0 8 1 * *', '* * * * *', '', '0 8']) assert.equal(daysRuleOf(cron), null, cron);
});

test('zones have the names of today, once each, whatever the browser or a schedule calls them', () => {
  const all = zones('Asia/Calcutta');
  assert.equal(all.filter((zone) => zone === 'Asia/Kolkata').length, 1);
  for (const former of ['Asia/Calcutta', 'Europe/Kiev', 'Asia/Saigon', 'America/Godthab', 'Pacific/Truk'])
    assert.equal(all.includes(former), false, former);
  for (const zone of all) assert.doesNotThrow(() => new Intl.DateTimeFormat('en', { timeZone: zone }), zone);
  // Towns that share a clock keep names of their own.
  assert.ok(all.includes('Europe/Oslo') && all.includes('Europe/Berlin'));
});
