/**
 * The built-in `greptime_identity`: every field becomes a column (contract ingest.md 8.10). Objects become dotted names, arrays and what is
 * nested too deeply become JSON text.
 */
import { failure, quoted } from "./failure.ts";
import { jsonText } from "./json/json-text.ts";
import type { Layout, TimeSource } from "./layout.ts";
import { VALUE_DEPTH_MAX } from "./limits.ts";
import { epochTime, unitOf } from "./processor/epoch.ts";
import { compileTimeFormat } from "./strftime.ts";
import { timeZoneOf } from "./time-zone.ts";
import type { IdentityOptions, PipelineRunOptions } from "./types.ts";
import { fieldOf, kindOf, PipelineTime, type PipelineObject, type PipelineValue, setField, WholeFloat } from "../common/value.ts";

const LEVELS_DEFAULT = 10;
const EMPTY: ReadonlySet<string> = new Set();

/** A custom time index. */
interface CustomTime {
  readonly field: string;
  readonly source: Omit<TimeSource, "of">;
  /** Undefined when the value is none. */
  read(value: PipelineValue): bigint | undefined;
}

/** How rows of the identity become columns. */
export interface Identity {
  layoutOf(run: PipelineRunOptions): Layout;
  /** The row with dotted names. */
  flattened(row: PipelineObject, run: PipelineRunOptions): PipelineObject;
}

/** Builds it. @throws DbError InvalidArguments */
export function makeIdentity(options: IdentityOptions): Identity {
  const custom = options.customTimeIndex === undefined ? undefined : compileCustomTime(options.customTimeIndex);
  const strict = layoutWith(custom, false);
  const lenient = layoutWith(custom, true);
  return {
    layoutOf: ({ ignoreErrors }) => (ignoreErrors === true ? lenient : strict),
    flattened: (row, run) => {
      const levels = run.maxNestedLevels ?? options.maxNestedLevels ?? LEVELS_DEFAULT;
      return flattened(row, Math.min(Math.max(1, levels), VALUE_DEPTH_MAX));
    },
  };
}

function layoutWith(custom: CustomTime | undefined, fallsBack: boolean): Layout {
  const time: TimeSource =
    custom === undefined
      ? { name: undefined, unit: "nanosecond", of: (_row, now) => now }
      : { ...custom.source, of: (row, now) => customTime(custom, row, now, fallsBack) };
  return { declared: [], time, timePlace: 0, findsColumns: true, consumed: EMPTY };
}

function customTime({ field, source, ...custom }: CustomTime, row: PipelineObject, nowNanos: bigint, fallsBack: boolean): bigint {
  const value = fieldOf(row, field);
  const time = value === undefined || value === null ? undefined : custom.read(value);
  if (time !== undefined) return time;
  if (!fallsBack) throw failure(`Failed to read the custom time index ${field}: the value is ${quoted(value)}`);
  return epochTime(new PipelineTime(nowNanos, "nanosecond"), source.unit)?.value ?? nowNanos;
}

function compileCustomTime(config: string): CustomTime {
  const invalid = (reason: string): Error => failure(`Invalid custom time index config: ${config}, reason: ${reason}`);
  const parts = config.split(";");
  const [field = "", kind, ...rest] = parts;
  const detail = rest.join(";");
  if (parts.length < 3 || field === "") throw invalid("config format: '<field>;<type>;<config>'");
  if (kind === "epoch") {
    const unit = ["s", "ms", "us", "ns"].includes(detail) ? unitOf(detail) : undefined;
    if (unit === undefined) throw invalid(`unsupported epoch unit ${detail}; use s, ms, us or ns`);
    return {
      field,
      source: { name: field, unit },
      read: (value) => (kindOf(value) === "int" || typeof value === "string" ? epochTime(value, unit)?.value : undefined),
    };
  }
  if (kind !== "datestr") throw invalid("the type must be epoch or datestr");
  const format = compileTimeFormat(detail);
  if (format === undefined) throw invalid(`cannot read the format ${detail}`);
  if (!format.hasOffset) throw invalid("the format must have an offset such as %z");
  const utc = timeZoneOf("UTC");
  return {
    field,
    source: { name: field, unit: "nanosecond" },
    read: (value) => (typeof value === "string" ? format.parse(value, utc)?.value : undefined),
  };
}

function isNested(value: PipelineValue): boolean {
  return typeof value === "object" && value !== null && !(value instanceof WholeFloat) && !(value instanceof PipelineTime);
}

function flattened(row: PipelineObject, levelsMax: number): PipelineObject {
  let nested = false;
  for (const name in row) {
    if (isNested(row[name])) {
      nested = true;
      break;
    }
  }
  if (!nested) return row;
  const flat: PipelineObject = {};
  spread(row, "", 1, levelsMax, flat);
  return flat;
}

function spread(from: PipelineObject, prefix: string, level: number, levelsMax: number, to: PipelineObject): void {
  for (const key of Object.keys(from)) {
    const value = from[key];
    const name = prefix + key;
    if (!isNested(value)) setField(to, name, value);
    else if (Array.isArray(value) || level >= levelsMax) setField(to, name, jsonText(value));
    else spread(value as PipelineObject, `${name}.`, level + 1, levelsMax, to); // nested and no array
  }
}
