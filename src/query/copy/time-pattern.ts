/** The patterns of TIMESTAMP_FORMAT, DATE_FORMAT and TIME_FORMAT: times in UTC → text, and text → times, by SQL's strftime. */
import { DbError } from "../../base/error.ts";
import { checkReadingFormat, parseUtcByFormat } from "../function/time/parse-format.ts";
import { checkPrintingFormat, formatLocalTime } from "../function/time/strftime.ts";

const CHARACTERS_MAX = 256;

/** A pattern that is known to be one. */
export class TimePattern {
  private readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  /** The pattern of a text, or what is wrong with it. At most 256 characters. @param use whether times are printed or read by it */
  static of(text: string, use: "print" | "read"): TimePattern | string {
    if (text === "" || text.length > CHARACTERS_MAX) return `it must have 1 to ${CHARACTERS_MAX} characters`;
    try {
      if (use === "print") checkPrintingFormat(text);
      else checkReadingFormat(text);
    } catch (thrown) {
      if (thrown instanceof DbError) return thrown.message;
      throw thrown;
    }
    return new TimePattern(text);
  }

  /** The text of a moment, nanoseconds since the epoch. */
  format(nanos: bigint): string {
    return formatLocalTime({ nanos, offsetSeconds: 0, zone: "UTC" }, this.text);
  }

  /** The moment of a text, nanoseconds since the epoch; undefined when it is not of the pattern. What a pattern lacks is as of 1970. */
  parse(text: string): bigint | undefined {
    return parseUtcByFormat(text.trim(), this.text);
  }
}
