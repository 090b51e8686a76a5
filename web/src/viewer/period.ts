/** Periods as people name them, in the calendar of the reader's time zone or of UTC. Weeks begin on Monday, as those of the chart do. */
import type { Filter } from "./filter.js";

export const PERIODS = [
  "today", "yesterday", "thisWeek", "lastWeek", "thisMonth", "lastMonth", "thisQuarter", "lastQuarter",
] as const;
export type Period = (typeof PERIODS)[number];

/** The first and the last millisecond of a period (RFC 3339). */
export function rangeOf(period: Period, isUtc: boolean, now = new Date()): { start_date: string; end_date: string } {
  const [year, month, day, weekday] = isUtc
    ? [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), now.getUTCDay()]
    : [now.getFullYear(), now.getMonth(), now.getDate(), now.getDay()];
  const start = (month: number, day: number): number => (isUtc ? Date.UTC(year, month, day) : new Date(year, month, day).getTime());
  const monday = day - ((weekday + 6) % 7);
  const quarter = month - (month % 3);
  const bounds: Record<Period, [number, number]> = {
    today: [start(month, day), start(month, day + 1)],
    yesterday: [start(month, day - 1), start(month, day)],
    thisWeek: [start(month, monday), start(month, monday + 7)],
    lastWeek: [start(month, monday - 7), start(month, monday)],
    thisMonth: [start(month, 1), start(month + 1, 1)],
    lastMonth: [start(month - 1, 1), start(month, 1)],
    thisQuarter: [start(quarter, 1), start(quarter + 3, 1)],
    lastQuarter: [start(quarter - 3, 1), start(quarter, 1)],
  };
  const [first, next] = bounds[period];
  return { start_date: new Date(first).toISOString(), end_date: new Date(next - 1).toISOString() };
}

/** The name of the period of a filter, if it has one. */
export function periodOf(filter: Filter, isUtc: boolean): Period | undefined {
  return PERIODS.find((period) => {
    const { start_date, end_date } = rangeOf(period, isUtc);
    return filter.start_date === start_date && filter.end_date === end_date;
  });
}
