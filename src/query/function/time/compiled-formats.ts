/**
 * Formats of times, compiled once: what `strftime.ts` prints and `parse-format.ts` reads by. Bounded, and shared by all queries.
 *
 *   "%F at %-H" ─► plain text and items, shorthands spelt out ─► what each of them is compiled to
 */
import { TIME_SHORTHANDS } from "../../../value/time-shorthands.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";

/** Longest format, characters. Reason: every row goes through it. Error: EngineExecuteQuery. */
const FORMAT_CHARACTERS_MAX = 4096;
/** Most formats of one kind that are remembered: texts of one query, seldom of many. */
const FORMATS_MAX = 256;

/** `%`, a flag, and a name. */
const ITEM = /%([-_0]?)(\.f|\.[369]f|[369]f|:{0,3}z|#z|.)/suy;

/** Items that stand for several. */
const SHORTHANDS: Readonly<Record<string, string>> = { ...TIME_SHORTHANDS, i: "%M", "+": "%Y-%m-%dT%H:%M:%S%.f%:z" };

/** What the parts of a format are compiled to. */
export interface FormatCompiler<T> {
  /** What errors say the format is for: "format a time by". */
  readonly purpose: string;
  /** What errors say behind an item that there is not: "that can be read", or nothing. */
  readonly usable: string;
  /** Text that is not empty and stands for itself. */
  plain(text: string): readonly T[];
  /** An item by its name, or undefined when there is none. `flag`: one of `-_0`, or nothing. */
  item(name: string, flag: string): T | undefined;
}

/** Remembers what formats were compiled to. */
export class CompiledFormats<T> {
  private readonly known = new Map<string, readonly T[]>();
  private readonly compiler: FormatCompiler<T>;

  constructor(compiler: FormatCompiler<T>) {
    this.compiler = compiler;
  }

  /** What a format was compiled to. @throws DbError EngineExecuteQuery for one that is too long or has an item that there is not */
  of(format: string): readonly T[] {
    const known = this.known.get(format);
    if (known !== undefined) return known;
    if (format.length > FORMAT_CHARACTERS_MAX) throw this.refusal(format, `it has more than ${FORMAT_CHARACTERS_MAX} characters`);
    const parts: T[] = [];
    this.compile(format, parts, format);
    if (this.known.size >= FORMATS_MAX) this.known.clear();
    this.known.set(format, parts);
    return parts;
  }

  /** @param whole the format as it was given, for errors */
  private compile(format: string, parts: T[], whole: string): void {
    for (let at = 0; at < format.length; ) {
      const next = format.indexOf("%", at);
      const plain = format.slice(at, next < 0 ? undefined : next);
      if (plain !== "") parts.push(...this.compiler.plain(plain));
      if (next < 0) return;
      ITEM.lastIndex = next;
      const found = ITEM.exec(format);
      if (found === null) throw this.refusal(whole, "it ends inside an item; write %% for a percent sign");
      const [text, flag = "", name = ""] = found;
      const shorthand = Object.hasOwn(SHORTHANDS, name) ? SHORTHANDS[name] : undefined;
      if (shorthand === undefined) parts.push(this.compiler.item(name, flag) ?? this.unknownItem(whole, text));
      else this.compile(shorthand, parts, whole);
      at = next + text.length;
    }
  }

  private unknownItem(format: string, item: string): never {
    const { usable } = this.compiler;
    throw this.refusal(format, `there is no item ${item}${usable === "" ? "" : ` ${usable}`}`);
  }

  private refusal(format: string, why: string): DbError {
    return new DbError(StatusCode.EngineExecuteQuery, `cannot ${this.compiler.purpose} '${format.slice(0, 80)}': ${why}`);
  }
}
