/** The parts of a pipeline from its definition. */
import { invalidArguments } from "../../base/error.ts";
import { coercionTo, REFUSED, refusal } from "./coerce.ts";
import { listOf, type Mapping, scalarText, withLine } from "./definition.ts";
import { compileDispatcher } from "./dispatcher.ts";
import { failure } from "./failure.ts";
import type { Layout, TimeSource } from "./layout.ts";
import type { Pipeline, PipelineParts } from "./pipeline.ts";
import { compileProcessor } from "./processor/compile.ts";
import { epochTime } from "./processor/epoch.ts";
import type { Processor } from "./processor/processor.ts";
import { compileTableSuffix } from "./table-suffix.ts";
import { compileTransform, type DeclaredColumn } from "./transform.ts";
import { fieldOf } from "../common/value.ts";

const EMPTY: ReadonlySet<string> = new Set();

/** Compiles a definition. `yaml` is its text, for lines in errors. @throws DbError InvalidArguments */
export function compileParts(definition: Mapping, yaml: string, identity: Pipeline): PipelineParts {
  const version = versionOf(definition["version"]);
  const processors = listOf(definition, "processors").map((entry, i) => withLine(yaml, "processors", i, () => compileProcessor(entry)));
  const key = Object.hasOwn(definition, "transforms") ? "transforms" : "transform";
  const columns = listOf(definition, key).flatMap((entry, i) => withLine(yaml, key, i, () => compileTransform(entry)));
  const shape = columns.length === 0 ? foundLayout(processors) : declaredLayout(columns, version);
  const { dispatcher, table_suffix: tableSuffix } = definition;
  return {
    processors,
    dispatcher: dispatcher === undefined || dispatcher === null ? undefined : compileDispatcher(dispatcher),
    tableSuffix: tableSuffix === undefined || tableSuffix === null ? undefined : compileTableSuffix(tableSuffix, shape.consumed),
    shape,
    isDeclared: columns.length > 0,
    identity,
  };
}

function versionOf(version: unknown): 1 | 2 {
  if (version === undefined || version === null || version === 1 || version === "1") return 1;
  if (version === 2 || version === "2") return 2;
  throw failure(`Invalid Pipeline doc version number: ${scalarText(version) ?? "a list or mapping"}`);
}

/** Columns of a transform; in version 2 with what no column consumes behind them. */
function declaredLayout(columns: readonly DeclaredColumn[], version: 1 | 2): Layout {
  const names = new Set<string>();
  for (const { name } of columns) {
    if (names.has(name)) throw failure(`Transform: column ${name} is declared twice`);
    names.add(name);
  }
  const times = columns.filter(({ semantic }) => semantic === "timestamp");
  const time = times[0];
  if (times.length > 1) {
    throw failure(
      `Transform: illegal to set multiple timestamp Index columns, please set only one: ${times.map(({ name }) => name).join(", ")}`,
    );
  }
  if (version === 2 && time === undefined) throw failure("Transform: one column must have index: timestamp in version 2");
  return {
    declared: columns.filter((column) => column !== time),
    time: time === undefined ? ownTime(names) : declaredTime(time),
    timePlace: time === undefined ? columns.length : columns.indexOf(time),
    findsColumns: version === 2,
    consumed: version === 2 ? new Set(columns.map(({ input }) => input)) : EMPTY,
  };
}

function declaredTime(column: DeclaredColumn): TimeSource {
  const { name, type } = column;
  if (type.kind !== "timestamp") throw failure(`Transform: the time index ${name} has no time type`);
  return {
    name,
    unit: type.unit,
    of: (row, nowNanos) => {
      const time = column.cell(row, nowNanos);
      if (typeof time !== "bigint") throw failure("Time index must be non null.");
      return time;
    },
  };
}

/** The time index of a transform without one: the row's, else now. */
function ownTime(names: ReadonlySet<string>): TimeSource {
  const coerce = coercionTo({ kind: "timestamp", unit: "nanosecond" });
  return {
    name: undefined,
    unit: "nanosecond",
    of: (row, nowNanos, timeColumn) => {
      if (names.has(timeColumn)) throw failure(`Transform: column ${timeColumn} has the name of the time index`);
      const value = fieldOf(row, timeColumn);
      if (value === undefined || value === null) return nowNanos;
      const time = coerce(value);
      if (time === REFUSED) throw refusal(value, "timestamp", true);
      return BigInt(time as bigint); // what a time coerces to
    },
  };
}

/** Columns by the fields of each row; the only time that processors make is the time index. */
function foundLayout(processors: readonly Processor[]): Layout {
  const times = processors.flatMap((processor) => processor.times ?? []);
  const time = times[0];
  if (time === undefined || times.length > 1) {
    throw invalidArguments(
      "Exactly one time-related processor and one timestamp value is required to use auto transform. " +
        `The processors make ${times.length}${times.length === 0 ? "" : `: ${times.map(({ name }) => name).join(", ")}`}`,
    );
  }
  const { name, unit } = time;
  return {
    declared: [],
    time: {
      name,
      unit,
      of: (row) => {
        const value = fieldOf(row, name);
        const read = value === undefined || value === null || typeof value === "string" ? undefined : epochTime(value, unit);
        if (read === undefined) throw failure(`Time index must be non null. Field ${name} has no time`);
        return read.value;
      },
    },
    timePlace: 0,
    findsColumns: true,
    consumed: new Set([name]),
  };
}
