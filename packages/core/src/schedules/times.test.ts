// The times of schedules as data: each line gives a cron line, a zone, a moment, and the times that follow it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cronLine, RefusalError } from '@platform/contract';
import fc from 'fast-check';
import { listTimes, newestUntil, timesOf } from './times.ts';

const LONG_AGO = new Date('2000-01-01T00:00:00Z');

/** Zone, line, from, and the times after it in UTC. */
const CASES: readonly (readonly [string, string, string, string])[] = [
  // Berlin, 29 March 2026: 02:00 to 03:00 does not happen; it ends at 01:00 UTC.
  ['Europe/Berlin', '30 2 * * *', '2026-03-27T12:00', '2026-03-28T01:30 2026-03-29T01:00 2026-03-30T00:30'],
  ['Europe/Berlin', '0 2 * * *', '2026-03-28T12:00', '2026-03-29T01:00 2026-03-30T00:00'],
  ['Europe/Berlin', '59 2 * * *', '2026-03-28T12:00', '2026-03-29T01:00 2026-03-30T00:59'],
  ['Europe/Berlin', '0,30 2 * * *', '2026-03-28T12:00', '2026-03-29T01:00 2026-03-30T00:00 2026-03-30T00:30'],
  ['Europe/Berlin', '*/15 2 * * *', '2026-03-28T12:00', '2026-03-29T01:00 2026-03-30T00:00'],
  ['Europe/Berlin', '0 3 * * *', '2026-03-28T12:00', '2026-03-29T01:00 2026-03-30T01:00'],
  ['Europe/Berlin', '30 2,3 * * *', '2026-03-28T12:00', '2026-03-29T01:00 2026-03-29T01:30 2026-03-30T00:30'],
  ['Europe/Berlin', '0 * * * *', '2026-03-28T23:30', '2026-03-29T00:00 2026-03-29T01:00 2026-03-29T02:00'],
  ['Europe/Berlin', '*/30 * * * *', '2026-03-29T00:00', '2026-03-29T00:30 2026-03-29T01:00 2026-03-29T01:30'],
  // Within what would be the gap by the clock before it.
  ['Europe/Berlin', '30 2 29 3 *', '2026-03-29T01:00', '2027-03-29T00:30'],
  // 25 October 2026: 02:00 to 03:00 happens twice, from 00:00 UTC and from 01:00 UTC.
  ['Europe/Berlin', '30 2 * * *', '2026-10-24T12:00', '2026-10-25T00:30 2026-10-26T01:30'],
  ['Europe/Berlin', '*/30 2 * * *', '2026-10-24T12:00', '2026-10-25T00:00 2026-10-25T00:30 2026-10-26T01:00'],
  ['Europe/Berlin', '0 1-3 * * *', '2026-10-24T12:00', '2026-10-24T23:00 2026-10-25T00:00 2026-10-25T02:00'],
  ['Europe/Berlin', '0 3 * * *', '2026-10-24T12:00', '2026-10-25T02:00 2026-10-26T02:00'],
  // Added during the second pass.
  ['Europe/Berlin', '45 2 * * *', '2026-10-25T01:30', '2026-10-26T01:45'],
  ['Europe/Berlin', '* 2 * * *', '2026-10-25T01:00', '2026-10-26T01:00'],
  // New York, 8 March and 1 November 2026.
  ['America/New_York', '30 2 * * *', '2026-03-07T12:00', '2026-03-08T07:00 2026-03-09T06:30'],
  ['America/New_York', '30 1 * * *', '2026-10-31T12:00', '2026-11-01T05:30 2026-11-02T06:30'],
  ['America/New_York', '0 9 * * MON-FRI', '2026-03-06T15:00', '2026-03-09T13:00 2026-03-10T13:00'],
  // Lord Howe moves by half an hour: 4 October and 5 April 2026.
  ['Australia/Lord_Howe', '15 2 * * *', '2026-10-02T20:00', '2026-10-03T15:30 2026-10-04T15:15'],
  ['Australia/Lord_Howe', '30 2 * * *', '2026-10-03T12:00', '2026-10-03T15:30 2026-10-04T15:30'],
  ['Australia/Lord_Howe', '45 1 * * *', '2026-04-04T12:00', '2026-04-04T14:45 2026-04-05T15:15'],
  // Midnight that does not happen.
  ['America/Havana', '0 0 * * *', '2026-03-07T12:00', '2026-03-08T05:00 2026-03-09T04:00'],
  // Ends of months and years, and leap days.
  ['UTC', '0 0 31 * *', '2026-01-31T00:00', '2026-03-31T00:00 2026-05-31T00:00 2026-07-31T00:00'],
  ['UTC', '0 0 29 2 *', '2026-01-01T00:00', '2028-02-29T00:00 2032-02-29T00:00'],
  ['UTC', '0 0 29 2 *', '2096-03-01T00:00', '2104-02-29T00:00'],
  ['UTC', '59 23 31 12 *', '2026-12-31T23:58', '2026-12-31T23:59 2027-12-31T23:59'],
  ['Pacific/Auckland', '0 0 1 1 *', '2026-06-01T00:00', '2026-12-31T11:00 2027-12-31T11:00'],
  ['Asia/Kathmandu', '0 8 * * *', '2026-01-01T00:00', '2026-01-01T02:15 2026-01-02T02:15'],
  // Day of month or day of week, when both are named: both when one begins with *, else either. Sunday is 0 and 7.
  ['Europe/Berlin', '0 8 */2 * MON', '2026-01-01T00:00', '2026-01-05T07:00 2026-01-19T07:00 2026-02-09T07:00'],
  ['Europe/Berlin', '0 8 */1 * MON', '2026-01-01T00:00', '2026-01-05T07:00 2026-01-12T07:00'],
  ['UTC', '0 0 1-7 * */7', '2026-01-01T00:00', '2026-01-04T00:00 2026-02-01T00:00 2026-03-01T00:00'],
  ['UTC', '0 0 13 * */2', '2026-01-01T00:00', '2026-01-13T00:00 2026-06-13T00:00 2026-08-13T00:00'],
  ['UTC', '0 0 *,13 * FRI', '2026-01-01T00:00', '2026-01-02T00:00 2026-01-09T00:00'],
  ['UTC', '0 0 13 * *,5', '2026-01-01T00:00', '2026-01-13T00:00 2026-02-13T00:00'],
  ['UTC', '0 0 */10 * */3', '2026-01-01T00:00', '2026-01-11T00:00 2026-01-21T00:00 2026-01-31T00:00'],
  ['UTC', '0 0 1-31/2 * MON', '2026-01-03T00:00', '2026-01-05T00:00 2026-01-07T00:00 2026-01-09T00:00'],
  ['UTC', '0 0 13,*/20 * 5', '2026-01-01T00:00', '2026-01-02T00:00 2026-01-09T00:00 2026-01-13T00:00'],
  ['UTC', '0 0 13 * 5', '2026-01-01T00:00', '2026-01-02T00:00 2026-01-09T00:00 2026-01-13T00:00'],
  ['UTC', '0 0 * * 7', '2026-01-01T00:00', '2026-01-04T00:00 2026-01-11T00:00'],
  ['UTC', '0 0 * JAN Sun', '2026-01-01T00:00', '2026-01-04T00:00 2026-01-11T00:00'],
  ['UTC', '5-25/10 3 * * *', '2026-01-01T00:00', '2026-01-01T03:05 2026-01-01T03:15 2026-01-01T03:25'],
];

for (const [timeZone, cron, from, expected] of CASES)
  test(`${cron} in ${timeZone} after ${from}`, () => {
    const times = timesOf({ cron, timeZone }, LONG_AGO);
    const wanted = expected.split(' ');
    const found = listTimes(times, new Date(`${from}Z`), wanted.length);
    assert.deepEqual(
      found.map((time) => time.toISOString()),
      wanted.map((time) => `${time}:00.000Z`),
    );
  });

test('over two years, a daily time fires once a day, and never outside that day', () => {
  for (const timeZone of [
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Africa/Casablanca',
    'Asia/Beirut',
  ]) {
    const times = timesOf({ cron: '30 2 * * *', timeZone }, LONG_AGO);
    const day = new Intl.DateTimeFormat('en-CA', { timeZone });
    const days = listTimes(times, new Date('2025-01-01T12:00Z'), 730).map((time) => day.format(time));
    assert.equal(new Set(days).size, 730, timeZone);
    const [first = '', last = ''] = [days[0], days.at(-1)];
    assert.equal((Date.parse(last) - Date.parse(first)) / 86_400_000, 729, `no day is left out in ${timeZone}`);
  }
});

/** Vixie cron's rule, day by day: the bits of each field, and whether its first character is `*`. */
test('any two fields of days mean what Vixie cron makes of them', () => {
  const field = (first: number, last: number) =>
    fc
      .array(
        fc.oneof(
          fc.constantFrom('*', '*/2', '*/3', '*/5'),
          fc.integer({ min: first, max: last }).map(String),
          fc
            .tuple(fc.integer({ min: first, max: last }), fc.integer({ min: 0, max: 3 }))
            .map(([from, more]) => `${from}-${Math.min(last, from + more)}`),
        ),
        { minLength: 1, maxLength: 3 },
      )
      .map((parts) => parts.join(','));
  const daysIn = (text: string, first: number, last: number) =>
    new Set(
      text.split(',').flatMap((part) => {
        const [range = '', step = '1'] = part.split('/');
        const [from = first, to = from] = range === '*' ? [first, last] : range.split('-').map(Number);
        return Array.from({ length: to - from + 1 }, (_, at) => from + at).filter(
          (day) => (day - from) % Number(step) === 0,
        );
      }),
    );
  fc.assert(
    fc.property(field(1, 28), field(0, 6), (date, weekday) => {
      const [dates, weekdays] = [daysIn(date, 1, 31), daysIn(weekday, 0, 6)];
      const both = date.startsWith('*') || weekday.startsWith('*');
      const wanted: string[] = [];
      for (let day = Date.UTC(2026, 0, 1); wanted.length < 10 && day < Date.UTC(2036, 0, 1); day += 86_400_000) {
        const time = new Date(day);
        const [one, other] = [dates.has(time.getUTCDate()), weekdays.has(time.getUTCDay())];
        if (both ? one && other : one || other) wanted.push(time.toISOString());
      }
      const found = listTimes(
        timesOf({ cron: `0 0 ${date} * ${weekday}`, timeZone: 'UTC' }, LONG_AGO),
        new Date('2025-12-31T12:00Z'),
        10,
      );
      assert.deepEqual(
        found.map((time) => time.toISOString()),
        wanted,
      );
    }),
  );
});

const refusals: readonly (readonly [string, string, string])[] = [
  ['0 0 30 2 *', 'UTC', 'cron'],
  ['0 0 31 4,6,9,11 *', 'UTC', 'cron'],
  ['0 0 30 2 */2', 'UTC', 'cron'],
  ['60 * * * *', 'UTC', 'cron'],
  ['* 24 * * *', 'UTC', 'cron'],
  ['* * 0 * *', 'UTC', 'cron'],
  ['* * * 13 *', 'UTC', 'cron'],
  ['* * * * 8', 'UTC', 'cron'],
  ['*/0 * * * *', 'UTC', 'cron'],
  ['0 5-1 * * *', 'UTC', 'cron'],
  ['0 0 * MON *', 'UTC', 'cron'],
  ['0 0 * * *', 'Mars/Olympus', 'timeZone'],
  ['0 0 * * *', 'Europe/Berlin2', 'timeZone'],
];
for (const [cron, timeZone, member] of refusals)
  test(`${cron} in ${timeZone} is refused for its ${member}`, () => {
    assert.throws(
      () => timesOf({ cron: cronLine.parse(cron), timeZone }, new Date('2026-01-01T00:00Z')),
      (error) => error instanceof RefusalError && error.refusal.errors?.[0]?.path === member,
    );
  });

test('a line has five plain fields', () => {
  for (const line of ['* * * * * *', '* * * *', '@daily', '0 0 L * *', '0 0 * * 1#2', '0 0 15W * *', '0 0 ? * *', ''])
    assert.equal(cronLine.safeParse(line).success, false, line);
  assert.equal(cronLine.parse('  0   8 * *\tmon-fri '), '0 8 * * mon-fri');
});

test('the newest time of a long while is found without counting through it', () => {
  const newest = (cron: string, first: string, now: string) => {
    const times = timesOf({ cron, timeZone: 'UTC' }, LONG_AGO);
    return newestUntil(times, new Date(`${first}:00Z`), new Date(`${now}:30Z`))
      .toISOString()
      .slice(0, 16);
  };
  assert.equal(newest('* * * * *', '2010-01-01T00:00', '2026-01-01T10:07'), '2026-01-01T10:07');
  assert.equal(newest('0 8 * * *', '2026-01-01T08:00', '2026-01-09T07:59'), '2026-01-08T08:00');
  assert.equal(newest('0 8 * * *', '2026-01-01T08:00', '2026-01-01T08:00'), '2026-01-01T08:00');
  assert.equal(newest('0 0 29 2 *', '2016-02-29T00:00', '2026-01-01T00:00'), '2024-02-29T00:00');
});
