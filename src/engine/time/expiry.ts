/**
 * Which rows have outlived their table's `ttl`: its own option, else its database's, looked up each time, so that ALTER takes effect at
 * once (contract query.md 1.2).
 *
 * | ttl                             | rows that have expired                        |
 * |---------------------------------|-----------------------------------------------|
 * | none, empty, `forever`, `0`     | none                                          |
 * | a duration                      | those of a time before now - ttl              |
 * | `instant`                       | all                                           |
 */
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { parseHumanDuration } from "../../base/text/human-duration.ts";
import { type TimeUnit, UNITS_PER_SECOND } from "../../column/data-type.ts";
import { ALL_TIME } from "../../table/scan.ts";
import { type TableSchema, timeIndexOf } from "../../table/schema.ts";

type Options = Readonly<Record<string, string>>;

/** What a ttl text means, in nanoseconds. */
type Ttl = bigint | "instant" | "forever";

/** Texts whose meaning is remembered. Reason: every write and scan asks; tables share few texts. */
const REMEMBERED_MAX = 1000;

/** See the file header. */
export class Expiry {
  private readonly clock: Clock;
  private readonly databaseOptions: (database: string) => Options;
  private readonly meanings: Map<string, Ttl> = new Map();

  constructor(clock: Clock, databaseOptions: (database: string) => Options) {
    this.clock = clock;
    this.databaseOptions = databaseOptions;
  }

  /**
   * The time before which rows of a table have expired now, in the unit of its time index; undefined when none can have, `ALL_TIME.end`
   * when all have.
   */
  before(schema: Pick<TableSchema, "database" | "options" | "columns" | "name">): bigint | undefined {
    const ttl = this.ttlOf(schema);
    if (ttl === "forever") return undefined;
    if (ttl === "instant") return ALL_TIME.end;
    const time = ceilDivide(this.clock.nowNanos() - ttl, unitNanosOf(schema));
    return time <= ALL_TIME.start ? undefined : time;
  }

  /** How long rows of a table live, in the unit of its time index; undefined when that is for ever, or not at all. */
  lifetimeOf(schema: Pick<TableSchema, "database" | "options" | "columns" | "name">): bigint | undefined {
    const ttl = this.ttlOf(schema);
    return typeof ttl === "bigint" ? ceilDivide(ttl, unitNanosOf(schema)) : undefined;
  }

  /** Options of compaction: a table's own if it has any, else those of its database as they are now. */
  compactionOptionsOf({ options, database }: Pick<TableSchema, "database" | "options">): Options {
    return Object.keys(options).some((key) => key.startsWith("compaction.")) ? options : this.databaseOptions(database);
  }

  private ttlOf({ options, database }: Pick<TableSchema, "database" | "options">): Ttl {
    return this.meaningOf(options["ttl"] ?? this.databaseOptions(database)["ttl"] ?? "");
  }

  private meaningOf(text: string): Ttl {
    const known = this.meanings.get(text);
    if (known !== undefined) return known;
    if (this.meanings.size >= REMEMBERED_MAX) this.meanings.clear();
    const meaning = meaningOf(text);
    this.meanings.set(text, meaning);
    return meaning;
  }
}

/** Texts were checked when the option was set; one that is no duration keeps rows. */
function meaningOf(text: string): Ttl {
  if (text.trim().toLowerCase() === "instant") return "instant";
  const duration = parseHumanDuration(text);
  return duration.ok && duration.value > 0n ? duration.value : "forever";
}

function unitNanosOf(schema: Pick<TableSchema, "columns" | "name">): bigint {
  return BigInt(UNITS_PER_SECOND.nanosecond / UNITS_PER_SECOND[timeUnitOf(schema)]);
}

/** The unit of a table's time index. */
export function timeUnitOf(schema: Pick<TableSchema, "columns" | "name">): TimeUnit {
  const { type } = timeIndexOf(schema);
  assert(type.kind === "timestamp", `the time index is a timestamp; got ${type.kind}`);
  return type.unit;
}

/** `a / b` rounded up. b > 0. */
export function ceilDivide(a: bigint, b: bigint): bigint {
  return a > 0n ? (a + b - 1n) / b : a / b;
}
