/** The fields that a time text gives, and the moment that they make. One of these is used again for every text. */

import { daysFromCivil, daysInMonth } from "../../value/civil.ts";

const UNSET = -1;
/** Every month has so many days. */
const DAYS_OF_ANY_MONTH = 28;

/** See the file header. Unset fields are -1, years and offsets NaN. */
export class TimeFields {
  year: number = Number.NaN;
  century: number = UNSET;
  yearOfCentury: number = UNSET;
  isoYear: number = Number.NaN;
  isoWeek: number = UNSET;
  month: number = UNSET;
  day: number = UNSET;
  dayOfYear: number = UNSET;
  /** Monday is 0. */
  weekday: number = UNSET;
  hour: number = UNSET;
  hour12: number = UNSET;
  /** 0 before noon, 1 after. */
  half: number = UNSET;
  minute: number = UNSET;
  second: number = UNSET;
  nanos: number = UNSET;
  offsetSeconds: number = Number.NaN;
  /** Seconds since 1970, for `%s`. */
  epochSeconds: number = Number.NaN;

  clear(): void {
    this.year = Number.NaN;
    this.century = UNSET;
    this.yearOfCentury = UNSET;
    this.isoYear = Number.NaN;
    this.isoWeek = UNSET;
    this.month = UNSET;
    this.day = UNSET;
    this.dayOfYear = UNSET;
    this.weekday = UNSET;
    this.hour = UNSET;
    this.hour12 = UNSET;
    this.half = UNSET;
    this.minute = UNSET;
    this.second = UNSET;
    this.nanos = UNSET;
    this.offsetSeconds = Number.NaN;
    this.epochSeconds = Number.NaN;
  }

  /** Seconds since 1970 as the clock on the wall has them; NaN when the fields make no moment. A text without a time means midnight. */
  localSeconds(): number {
    if (!Number.isNaN(this.epochSeconds)) return this.epochSeconds;
    const days = this.days();
    const seconds = this.secondsOfDay();
    if (this.weekday !== UNSET && (((days + 3) % 7) + 7) % 7 !== this.weekday) return Number.NaN;
    return days * 86_400 + seconds;
  }

  private days(): number {
    let { year } = this;
    if (Number.isNaN(year) && this.yearOfCentury !== UNSET) {
      year =
        this.century === UNSET ? this.yearOfCentury + (this.yearOfCentury < 70 ? 2000 : 1900) : this.century * 100 + this.yearOfCentury;
    }
    if (this.month !== UNSET && this.day !== UNSET) {
      if (this.month < 1 || this.month > 12 || this.day < 1 || this.isBeyondMonth(year)) return Number.NaN;
      return daysFromCivil(year, this.month, this.day);
    }
    if (this.dayOfYear !== UNSET) {
      const first = daysFromCivil(year, 1, 1);
      return this.dayOfYear < 1 || this.dayOfYear > daysFromCivil(year + 1, 1, 1) - first ? Number.NaN : first + this.dayOfYear - 1;
    }
    if (this.isoWeek !== UNSET && this.weekday !== UNSET) {
      if (this.isoWeek < 1 || this.isoWeek > 53) return Number.NaN;
      const fourth = daysFromCivil(this.isoYear, 1, 4); // always in week 1
      return fourth - ((((fourth + 3) % 7) + 7) % 7) + (this.isoWeek - 1) * 7 + this.weekday;
    }
    return Number.NaN;
  }

  private isBeyondMonth(year: number): boolean {
    return this.day > DAYS_OF_ANY_MONTH && this.day > daysInMonth(year, this.month);
  }

  private secondsOfDay(): number {
    let { hour } = this;
    if (hour === UNSET && this.hour12 !== UNSET) {
      if (this.half === UNSET || this.hour12 < 1 || this.hour12 > 12) return Number.NaN;
      hour = (this.hour12 % 12) + this.half * 12;
    }
    if (hour === UNSET) return this.minute === UNSET && this.second === UNSET ? 0 : Number.NaN;
    if (hour > 23 || this.minute > 59 || this.second > 60) return Number.NaN;
    if (this.minute === UNSET) return Number.NaN;
    return hour * 3600 + this.minute * 60 + (this.second === UNSET ? 0 : this.second);
  }
}
