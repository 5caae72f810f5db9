/** Formats of times, compiled once: what `strftime.ts` prints and `parse-format.ts` reads by. Bounded, and shared by all queries. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";

/** Longest format, characters. Reason: every row goes through it. Error: EngineExecuteQuery. */
const FORMAT_CHARACTERS_MAX = 4096;
/** Most formats of one kind that are remembered: texts of one query, seldom of many. */
const FORMATS_MAX = 256;

/** Remembers what formats were compiled to. */
export class CompiledFormats<T> {
  private readonly known = new Map<string, readonly T[]>();
  private readonly purpose: string;
  private readonly compile: (format: string) => readonly T[];

  /** @param purpose what errors say the format is for: "format a time by" */
  constructor(purpose: string, compile: (format: string) => readonly T[]) {
    this.purpose = purpose;
    this.compile = compile;
  }

  /** What a format was compiled to. @throws DbError EngineExecuteQuery for one that is too long, and those of `compile` */
  of(format: string): readonly T[] {
    const known = this.known.get(format);
    if (known !== undefined) return known;
    if (format.length > FORMAT_CHARACTERS_MAX) throw this.refusal(format, `it has more than ${FORMAT_CHARACTERS_MAX} characters`);
    const items = this.compile(format);
    if (this.known.size >= FORMATS_MAX) this.known.clear();
    this.known.set(format, items);
    return items;
  }

  /** The error of a format that is none. */
  refusal(format: string, why: string): DbError {
    return new DbError(StatusCode.EngineExecuteQuery, `cannot ${this.purpose} '${format.slice(0, 80)}': ${why}`);
  }
}
