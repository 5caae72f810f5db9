/** `transform`: the columns that a pipeline declares, and how a row fills them (contract ingest.md 8.8). */
import { BOOLEAN, type DataType, JSON_TYPE, NUMBER_TYPES, STRING } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import type { ColumnDefinition } from "../../table/schema.ts";
import { coercionTo, REFUSED, refusal, zeroOf } from "./coerce.ts";
import { fieldsOf, isMapping, type Mapping, scalarText } from "./definition.ts";
import { failure } from "./failure.ts";
import { indexOf } from "./index-clauses.ts";
import { unitOf } from "./processor/epoch.ts";
import { fieldOf, type PipelineObject, type PipelineValue } from "../common/value.ts";
import { NANOS_PER_UNIT } from "../../value/time-units.ts";

/** A column that a transform declares. */
export interface DeclaredColumn extends ColumnDefinition {
  /** Field of the row that fills it. */
  readonly input: string;
  /** The cell of a row; `now` fills a time index that the row lacks. @throws DbError InvalidArguments */
  cell(row: PipelineObject, nowNanos: bigint): Scalar;
}

const TYPES: Readonly<Record<string, DataType>> = {
  ...NUMBER_TYPES,
  boolean: BOOLEAN,
  string: STRING,
  json: JSON_TYPE,
};

/** Compiles an entry of `transform`: one column a field. @throws DbError InvalidArguments */
export function compileTransform(entry: unknown): readonly DeclaredColumn[] {
  if (!isMapping(entry)) throw failure("Transform: an entry must be a mapping with fields and type");
  const fields = fieldsOf(entry, "Transform");
  const typeText = entry["type"];
  if (typeof typeText !== "string") throw failure(`Transform: type of field ${fields[0]?.output} is required`);
  const type = typeOf(typeText);
  const index = indexOf(entry["index"], type.kind === "string");
  const isTag = index.kind === "tag" || flagOf(entry, "tag");
  if (index.kind === "time" && type.kind !== "timestamp") {
    throw failure(`Transform: the time index ${fields[0]?.output} must have a time type, but has ${typeText}`);
  }
  if (index.kind === "time" && isTag) throw failure(`Transform: ${fields[0]?.output} cannot be a tag and the time index`);
  if (isTag && type.kind === "json") throw failure(`Transform: ${fields[0]?.output} cannot be a tag: it holds JSON`);
  if (index.kind === "time" && fields.length > 1) throw failure("Transform: a time index must have exactly one field");
  const semantic = index.kind === "time" ? "timestamp" : isTag ? "tag" : "field";
  const name = typeText.trim().toLowerCase();
  const failing = failingOf(entry, type, name);
  return fields.map(({ input, output }) => ({
    name: output,
    type,
    semantic,
    nullable: semantic !== "timestamp",
    ...(index.clauses.length === 0 ? {} : { indexes: index.clauses }),
    input,
    cell: cellOf(input, type, name, failing, semantic === "timestamp"),
  }));
}

/** What happens to values that have no cell, and to rows without the field. */
interface Failing {
  readonly mode: "error" | "ignore" | "default";
  /** Explicit or zero. */
  readonly value: Scalar;
}

function typeOf(text: string): DataType {
  const [head = "", resolution] = text.split(",").map((part) => part.trim().toLowerCase());
  if (head === "time" || head === "timestamp" || head === "epoch") {
    const unit = unitOf(resolution ?? "ns");
    if (unit === undefined) throw failure(`Transform: unknown resolution in type '${text}'; use s, ms, us or ns`);
    return { kind: "timestamp", unit };
  }
  const type = Object.hasOwn(TYPES, head) ? TYPES[head] : undefined;
  if (type === undefined || resolution !== undefined) throw failure(`Transform: failed to parse type '${text}'`);
  return type;
}

function flagOf(entry: Mapping, name: string): boolean {
  const value = entry[name];
  if (value === undefined || value === null) return false;
  if (typeof value !== "boolean") throw failure(`Transform: ${name} must be true or false`);
  return value;
}

function failingOf(entry: Mapping, type: DataType, name: string): Failing {
  const { default: constant, on_failure: mode } = entry;
  if (mode !== undefined && mode !== null && mode !== "ignore" && mode !== "default") {
    throw failure(`Transform: on_failure must be ignore or default, but is ${scalarText(mode) ?? "a list or mapping"}`);
  }
  if (constant === undefined || constant === null) return { mode: mode ?? "error", value: zeroOf(type) };
  if (type.kind === "timestamp" || type.kind === "json") throw failure(`Transform: a column of type ${name} takes no default`);
  if (typeof constant !== "string" && typeof constant !== "number" && typeof constant !== "boolean") {
    throw failure("Transform: default must be a scalar");
  }
  const value = coercionTo(type)(constant);
  if (value === REFUSED) throw refusal(constant, name, false);
  return { mode: "default", value };
}

function cellOf(
  input: string,
  type: DataType,
  typeName: string,
  { mode, value: fallback }: Failing,
  isTimeIndex: boolean,
): DeclaredColumn["cell"] {
  const coerce = coercionTo(type);
  const isTime = type.kind === "timestamp";
  const nanosPerUnit = isTime ? NANOS_PER_UNIT[type.unit] : 1n;
  const refused = (value: PipelineValue): Scalar => {
    if (mode === "error") throw refusal(value, typeName, isTime);
    return mode === "default" ? fallback : undefined;
  };
  return (row, nowNanos) => {
    const value = fieldOf(row, input);
    if (value === undefined) {
      if (mode !== "default") return undefined;
      return isTimeIndex ? nowNanos / nanosPerUnit : fallback;
    }
    if (value === null) return undefined;
    const cell = coerce(value);
    return cell === REFUSED ? refused(value) : cell;
  };
}
