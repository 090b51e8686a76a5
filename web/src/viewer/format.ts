import type { Interval } from "../shared/types.js";
import type { Messages } from "./languages/index.js";

/** Formats for one language and zone. */
export class Formats {
  private readonly absoluteTime: Intl.DateTimeFormat;
  private readonly fullTime: Intl.DateTimeFormat;
  private readonly relativeTime: Intl.RelativeTimeFormat;
  private readonly numbers: Intl.NumberFormat;
  private readonly buckets = new Map<string, Intl.DateTimeFormat>();
  /** The name of the time zone in the IANA database. */
  readonly zone: string;

  constructor(
    readonly language: string,
    readonly messages: Messages,
    isUtc: boolean,
  ) {
    this.zone = isUtc ? "UTC" : new Intl.DateTimeFormat().resolvedOptions().timeZone;
    const zone: Intl.DateTimeFormatOptions = isUtc ? { timeZone: "UTC" } : {};
    this.absoluteTime = new Intl.DateTimeFormat(language, {
      ...zone, year: "numeric", month: "short", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23",
    });
    this.fullTime = new Intl.DateTimeFormat(language, {
      ...zone, weekday: "short", year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
      fractionalSecondDigits: 3, timeZoneName: "short", hourCycle: "h23",
    });
    this.relativeTime = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
    this.numbers = new Intl.NumberFormat(language);
  }

  number(value: number): string {
    return this.numbers.format(value);
  }

  absolute(time: string): string {
    return this.absoluteTime.format(new Date(time));
  }

  full(time: string): string {
    return this.fullTime.format(new Date(time));
  }

  relative(time: string, now: number): string {
    const seconds = Math.round((Date.parse(time) - now) / 1000);
    const size = Math.abs(seconds);
    if (size < 10) return this.messages.justNow;
    const units: [Intl.RelativeTimeFormatUnit, number][] = [
      ["year", 31_557_600], ["month", 2_629_800], ["day", 86_400], ["hour", 3_600], ["minute", 60], ["second", 1],
    ];
    const [unit, length] = units.find(([, length]) => size >= length) ?? ["second", 1];
    return this.relativeTime.format(Math.trunc(seconds / length), unit);
  }

  /** A bucket of the histogram, in the time zone in which it begins. */
  bucket(start: string, interval: Interval, zone: string): string {
    const key = `${interval} ${zone}`;
    let format = this.buckets.get(key);
    if (!format) {
      const fields: Record<Interval, Intl.DateTimeFormatOptions> = {
        minute: { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
        hour: { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
        day: { year: "numeric", month: "short", day: "numeric" },
        week: { year: "numeric", month: "short", day: "numeric" },
        month: { year: "numeric", month: "long" },
      };
      format = new Intl.DateTimeFormat(this.language, { timeZone: zone, ...fields[interval] });
      this.buckets.set(key, format);
    }
    return format.format(new Date(start));
  }

  /** A value of a field in words, where it is one of few. */
  value(field: string, value: string): string {
    const { categories, outcomes, actorTypes } = this.messages;
    return ({ category: categories, outcome: outcomes, actor_type: actorTypes } as Record<string, Record<string, string>>)[field]?.[value] ?? value;
  }

  bytes(count: number): string {
    const unit = count < 1_000_000 ? "kilobyte" : "megabyte";
    const value = count / (unit === "kilobyte" ? 1_000 : 1_000_000);
    return new Intl.NumberFormat(this.language, { style: "unit", unit, maximumFractionDigits: 1 }).format(value);
  }
}

/** The time after the last bucket, in milliseconds since 1970. The zone is UTC or that of the browser. */
export function bucketEnd(start: string, interval: Interval, zone: string): number {
  const date = new Date(start);
  if (interval === "minute") return date.getTime() + 60_000;
  if (interval === "hour") return date.getTime() + 3_600_000;
  const [months, days] = { day: [0, 1], week: [0, 7], month: [1, 0] }[interval] as [number, number];
  if (zone === "UTC") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, date.getUTCDate() + days);
  return new Date(date.getFullYear(), date.getMonth() + months, date.getDate() + days).getTime();
}

/** A time as `2026-01-15T10:30:00`, in the zone of the reader or in UTC. */
export function toLocalInput(time: string | undefined, isUtc: boolean): string {
  if (!time || Number.isNaN(Date.parse(time))) return "";
  const date = new Date(time);
  const shifted = isUtc ? date : new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}

/** The time that a date and a time of inputs name, in UTC. Without a time it is the first or the last instant of the day. */
export function fromLocalInput(date: string, time: string, isUtc: boolean, isEnd: boolean): string | undefined {
  if (!date) return undefined;
  const [hours = isEnd ? "23" : "00", minutes = isEnd ? "59" : "00", seconds = isEnd ? "59" : "00"] = time ? time.split(":") : [];
  const instant = Date.parse(`${date}T${hours}:${minutes}:${seconds}.${isEnd ? "999" : "000"}${isUtc ? "Z" : ""}`);
  return Number.isNaN(instant) ? undefined : new Date(instant).toISOString();
}
