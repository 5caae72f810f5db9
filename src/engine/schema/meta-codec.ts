/**
 * Schemas and file descriptions as JSON for the meta store. The layout is in `../storage/meta-store/FORMAT.md`.
 */
import { type DbError, corrupted } from "../../base/error.ts";
import { SQL_DEPTH_MAX } from "../../base/limits.ts";
import { type TableId, tableId } from "../../base/units.ts";
import type { DataType, TimeUnit } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import type { MetaValue } from "../../storage/meta-store/meta-store.ts";
import type { DataFile } from "../../storage/sst/data-file.ts";
import { METRIC_ENGINE } from "../../table/metric.ts";
import type {
  ColumnDefault,
  ColumnSchema,
  FormerColumn,
  JsonHint,
  PartitionComparison,
  PartitionTest,
  SemanticType,
  SpreadSpan,
  TablePartitions,
  TableSchema,
} from "../../table/schema.ts";

const SEMANTICS: readonly SemanticType[] = ["tag", "field", "timestamp"];
const UNITS: readonly TimeUnit[] = ["second", "millisecond", "microsecond", "nanosecond"];
const TESTS: readonly PartitionTest["kind"][] = ["all", "any", "compare"];
const COMPARISONS: readonly PartitionComparison[] = ["=", "<>", "<", "<=", ">", ">="];
/** Most structs, lists and maps inside each other; native histograms are two. */
const TYPE_DEPTH_MAX = 8;

/** A record, so that a new kind of type must be added here. */
const KIND_SET: Readonly<Record<DataType["kind"], true>> = {
  null: true,
  boolean: true,
  int: true,
  float: true,
  string: true,
  binary: true,
  date: true,
  timestamp: true,
  time: true,
  duration: true,
  interval: true,
  decimal: true,
  json: true,
  vector: true,
  list: true,
  struct: true,
  map: true,
};
const KINDS: readonly DataType["kind"][] = Object.keys(KIND_SET) as DataType["kind"][]; // The keys of the line above.

/** Logical tables share the region of their physical table, under the tags `__table_id` and `__labels`. */
const METRIC_LAYOUT = 1;

type MetaObject = { readonly [key: string]: MetaValue };

/** Key of a table's entry. */
export function tableKey(id: TableId): string {
  return `table/${pad(id)}`;
}

/** Key of a file's entry; with no file id, the prefix of all files of a table. */
export function fileKey(table: TableId, file?: number): string {
  return `file/${pad(table)}/${file === undefined ? "" : pad(file)}`;
}

/** Key of the sequence up to which a table is flushed. */
export function flushedKey(table: TableId): string {
  return `flushed/${pad(table)}`;
}

/** Key of the mark that a logical table of this physical table was dropped since its files were last looked through. */
export function uncleanKey(table: TableId): string {
  return `unclean/${pad(table)}`;
}

/** Key of the entry that says that the log was begun: a log directory without one is not a new one from then on. */
export const LOG_KEY = "log";

/** Key of a view's entry; with no id, the prefix of all views. */
export function viewKey(id?: number): string {
  return `view/${id === undefined ? "" : pad(id)}`;
}

function pad(id: number): string {
  return String(id).padStart(10, "0");
}

/** A schema as JSON. `nextColumnId` is the id that the next new column gets. */
export function encodeSchema(schema: TableSchema, nextColumnId: number): MetaValue {
  return {
    id: schema.id,
    database: schema.database,
    name: schema.name,
    version: schema.version,
    ...(schema.createdMillis === undefined ? {} : { created: schema.createdMillis }),
    engine: schema.engine,
    options: { ...schema.options },
    primaryKey: [...schema.primaryKey],
    nextColumnId,
    ...(schema.partitions === undefined ? {} : { partitions: encodePartitions(schema.partitions) }),
    ...(schema.spreads === undefined ? {} : { spreads: schema.spreads.map(encodeSpread) }),
    ...(schema.isUnfinished === undefined ? {} : { unfinished: true }),
    ...(schema.engine === METRIC_ENGINE ? { metricLayout: METRIC_LAYOUT } : {}),
    columns: schema.columns.map((column) => ({
      id: column.id,
      name: column.name,
      type: encodeType(column.type),
      semantic: column.semantic,
      nullable: column.nullable,
      ...(column.default === undefined ? {} : { default: encodeDefault(column.default) }),
      ...(column.comment === undefined ? {} : { comment: column.comment }),
      ...(column.hints === undefined ? {} : { hints: column.hints.map(encodeHint) }),
      ...(column.indexes === undefined ? {} : { indexes: [...column.indexes] }),
      ...(column.former === undefined ? {} : { former: column.former.map(({ id, type }) => ({ id, type: encodeType(type) })) }),
      ...(column.initial === undefined ? {} : { initial: encodeDefault(column.initial) }),
    })),
  };
}

function encodeHint({ path, type, nullable, default: json }: JsonHint): MetaValue {
  return { path: [...path], type: encodeType(type), nullable, ...(json === undefined ? {} : { default: json }) };
}

function decodeHint(key: string, entry: MetaObject): JsonHint {
  return {
    path: arrayOf(key, entry["path"]).map((part) => textOf(key, part)),
    type: decodeType(key, objectOf(key, entry["type"])),
    nullable: entry["nullable"] === true,
    ...(entry["default"] === undefined ? {} : { default: textOf(key, entry["default"]) }),
  };
}

function encodeType(type: DataType): MetaValue {
  if (type.kind === "list") return { kind: type.kind, element: encodeType(type.element) };
  if (type.kind === "map") return { kind: type.kind, key: encodeType(type.key), value: encodeType(type.value) };
  if (type.kind === "struct") {
    return { kind: type.kind, fields: type.fields.map((field) => ({ name: field.name, type: encodeType(field.type) })) };
  }
  return { ...type };
}

/** A schema from JSON. @throws DbError StorageUnavailable when the entry is not what `encodeSchema` made */
export function decodeSchema(key: string, value: MetaValue): { readonly schema: TableSchema; readonly nextColumnId: number } {
  const entry = objectOf(key, value);
  const columns = arrayOf(key, entry["columns"]).map((column) => decodeColumn(key, objectOf(key, column)));
  const schema: TableSchema = {
    id: tableId(numberOf(key, entry["id"])),
    database: textOf(key, entry["database"]),
    name: textOf(key, entry["name"]),
    version: numberOf(key, entry["version"]),
    ...(entry["created"] === undefined ? {} : { createdMillis: numberOf(key, entry["created"]) }),
    engine: engineOf(key, entry),
    options: Object.fromEntries(Object.entries(objectOf(key, entry["options"])).map(([name, text]) => [name, textOf(key, text)])),
    primaryKey: arrayOf(key, entry["primaryKey"]).map((name) => textOf(key, name)),
    columns,
    ...(entry["partitions"] === undefined ? {} : { partitions: decodePartitions(key, objectOf(key, entry["partitions"])) }),
    ...(entry["spreads"] === undefined
      ? {}
      : { spreads: arrayOf(key, entry["spreads"]).map((span) => decodeSpread(key, objectOf(key, span))) }),
    ...(entry["unfinished"] === true ? { isUnfinished: true } : {}),
  };
  return { schema, nextColumnId: numberOf(key, entry["nextColumnId"]) };
}

function encodeSpread({ from, spread }: SpreadSpan): MetaValue {
  return from === undefined ? { spread } : { from: String(from), spread };
}

function decodeSpread(key: string, entry: MetaObject): SpreadSpan {
  const spread = numberOf(key, entry["spread"]);
  return entry["from"] === undefined ? { spread } : { from: bigintOf(key, entry["from"]), spread };
}

function encodePartitions({ columns, rules, tests }: TablePartitions): MetaValue {
  return { columns: [...columns], rules: [...rules], ...(tests === undefined ? {} : { tests: tests.map(encodeTest) }) };
}

function decodePartitions(key: string, entry: MetaObject): TablePartitions {
  const texts = (field: string): readonly string[] => arrayOf(key, entry[field]).map((text) => textOf(key, text));
  const own = { columns: texts("columns"), rules: texts("rules") };
  if (entry["tests"] === undefined) return own;
  return { ...own, tests: arrayOf(key, entry["tests"]).map((test) => decodeTest(key, objectOf(key, test))) };
}

function encodeTest(test: PartitionTest): MetaValue {
  return test.kind === "compare" ? { ...test } : { kind: test.kind, of: test.of.map(encodeTest) };
}

function decodeTest(key: string, entry: MetaObject, depth = 0): PartitionTest {
  if (depth > SQL_DEPTH_MAX) throw broken(key, `at most ${SQL_DEPTH_MAX} tests inside each other`, entry["kind"]);
  const kind = oneOf(key, TESTS, entry["kind"]);
  if (kind !== "compare") return { kind, of: arrayOf(key, entry["of"]).map((test) => decodeTest(key, objectOf(key, test), depth + 1)) };
  const operator = oneOf(key, COMPARISONS, entry["operator"]);
  return { kind, column: textOf(key, entry["column"]), operator, text: textOf(key, entry["text"]) };
}

/** Before its layout was noted, a table of the metric engine was an ordinary table of that name: so it stays. */
function engineOf(key: string, entry: MetaObject): string {
  const engine = textOf(key, entry["engine"]);
  if (engine !== METRIC_ENGINE) return engine;
  if (entry["metricLayout"] === undefined) return "mito";
  oneOf(key, [METRIC_LAYOUT], entry["metricLayout"]);
  return engine;
}

function decodeColumn(key: string, entry: MetaObject): ColumnSchema {
  const { comment, hints, indexes, former, initial } = entry;
  return {
    id: numberOf(key, entry["id"]),
    name: textOf(key, entry["name"]),
    type: decodeType(key, objectOf(key, entry["type"])),
    semantic: oneOf(key, SEMANTICS, entry["semantic"]),
    nullable: entry["nullable"] === true,
    ...(entry["default"] === undefined ? {} : { default: decodeDefault(key, objectOf(key, entry["default"])) }),
    ...(comment === undefined ? {} : { comment: textOf(key, comment) }),
    ...(hints === undefined ? {} : { hints: arrayOf(key, hints).map((hint) => decodeHint(key, objectOf(key, hint))) }),
    ...(indexes === undefined ? {} : { indexes: arrayOf(key, indexes).map((index) => textOf(key, index)) }),
    ...(former === undefined ? {} : { former: arrayOf(key, former).map((old) => decodeFormer(key, objectOf(key, old))) }),
    ...(initial === undefined ? {} : { initial: decodeDefault(key, objectOf(key, initial)) }),
  };
}

function decodeFormer(key: string, entry: MetaObject): FormerColumn {
  return { id: numberOf(key, entry["id"]), type: decodeType(key, objectOf(key, entry["type"])) };
}

function decodeType(key: string, entry: MetaObject, depth = 0): DataType {
  if (depth > TYPE_DEPTH_MAX) throw broken(key, `at most ${TYPE_DEPTH_MAX} types inside each other`, entry);
  const kind = oneOf(key, KINDS, entry["kind"]);
  switch (kind) {
    case "int":
      return { kind, bits: oneOf(key, [8, 16, 32, 64], entry["bits"]), signed: entry["signed"] === true };
    case "float":
      return { kind, bits: oneOf(key, [32, 64], entry["bits"]) };
    case "timestamp":
    case "time":
    case "duration":
      return { kind, unit: oneOf(key, UNITS, entry["unit"]) };
    case "decimal":
      return { kind, precision: numberOf(key, entry["precision"]), scale: numberOf(key, entry["scale"]) };
    case "json":
      return entry["structured"] === true ? { kind, structured: true } : { kind };
    case "vector":
      return { kind, dimension: numberOf(key, entry["dimension"]) };
    case "list":
      return { kind, element: decodeType(key, objectOf(key, entry["element"]), depth + 1) };
    case "map":
      return {
        kind,
        key: decodeType(key, objectOf(key, entry["key"]), depth + 1),
        value: decodeType(key, objectOf(key, entry["value"]), depth + 1),
      };
    case "struct": {
      const fields = arrayOf(key, entry["fields"]).map((field) => objectOf(key, field));
      const typeOf = (field: MetaObject): DataType => decodeType(key, objectOf(key, field["type"]), depth + 1);
      return { kind, fields: fields.map((field) => ({ name: textOf(key, field["name"]), type: typeOf(field) })) };
    }
    default:
      return { kind };
  }
}

/** Defaults keep the kind of their value, since JSON has no 64-bit integers, NaN or bytes. */
function encodeDefault(value: ColumnDefault): MetaValue {
  if (value.kind === "now") return value.written === undefined ? { kind: "now" } : { kind: "now", written: value.written };
  const scalar = value.value;
  if (scalar === undefined) return { kind: "literal", type: "null" };
  if (typeof scalar === "boolean") return { kind: "literal", type: "boolean", value: scalar };
  if (typeof scalar === "string") return { kind: "literal", type: "text", value: scalar };
  if (scalar instanceof Uint8Array) return { kind: "literal", type: "bytes", value: scalar.toHex() };
  return { kind: "literal", type: typeof scalar, value: Object.is(scalar, -0) ? "-0" : String(scalar) };
}

function decodeDefault(key: string, entry: MetaObject): ColumnDefault {
  if (entry["kind"] === "now") return entry["written"] === "now()" ? { kind: "now", written: "now()" } : { kind: "now" };
  return { kind: "literal", value: decodeScalar(key, entry) };
}

function decodeScalar(key: string, entry: MetaObject): Scalar {
  switch (entry["type"]) {
    case "null":
      return undefined;
    case "boolean":
      return entry["value"] === true;
    case "bytes":
      return parsed(key, "hexadecimal digits", entry["value"], (text) => Uint8Array.fromHex(text));
    case "number":
      return Number(textOf(key, entry["value"]));
    case "bigint":
      return bigintOf(key, entry["value"]);
    default:
      oneOf(key, ["text"], entry["type"]);
      return textOf(key, entry["value"]);
  }
}

/** A file's description as JSON. */
export function encodeFile(file: DataFile): MetaValue {
  const { tombstones, ...rest } = file;
  const range = { minTime: String(file.minTime), maxTime: String(file.maxTime) };
  return tombstones === undefined ? { ...rest, ...range } : { ...rest, ...range, tombstones: { ...tombstones } };
}

/** A file's description from JSON. @throws DbError StorageUnavailable when the entry is not what `encodeFile` made */
export function decodeFile(key: string, value: MetaValue): DataFile {
  const entry = objectOf(key, value);
  const tombstones = entry["tombstones"] === undefined ? undefined : objectOf(key, entry["tombstones"]);
  return {
    id: numberOf(key, entry["id"]),
    name: textOf(key, entry["name"]),
    rowCount: numberOf(key, entry["rowCount"]),
    byteLength: numberOf(key, entry["byteLength"]),
    minTime: bigintOf(key, entry["minTime"]),
    maxTime: bigintOf(key, entry["maxTime"]),
    sequence: numberOf(key, entry["sequence"]),
    schemaVersion: numberOf(key, entry["schemaVersion"]),
    ...(entry["crc"] === undefined ? {} : { crc: numberOf(key, entry["crc"]) }),
    ...(tombstones === undefined
      ? {}
      : { tombstones: { count: numberOf(key, tombstones["count"]), rowCount: numberOf(key, tombstones["rowCount"]) } }),
  };
}

function broken(key: string, want: string, value: unknown, cause?: unknown): DbError {
  const message = `cannot read meta entry ${key}: expected ${want}; got ${JSON.stringify(value)}`;
  return corrupted(message, { file: `meta entry ${key}`, offset: undefined, kind: "structure" }, cause);
}

/** An entry that is an object. @throws DbError StorageUnavailable */
export function objectOf(key: string, value: MetaValue | undefined): MetaObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw broken(key, "an object", value);
  return value as MetaObject;
}

/** A list. @throws DbError StorageUnavailable */
export function arrayOf(key: string, value: MetaValue | undefined): readonly MetaValue[] {
  if (!Array.isArray(value)) throw broken(key, "a list", value);
  return value;
}

/** A text. @throws DbError StorageUnavailable */
export function textOf(key: string, value: MetaValue | undefined): string {
  if (typeof value !== "string") throw broken(key, "text", value);
  return value;
}

function bigintOf(key: string, value: MetaValue | undefined): bigint {
  return parsed(key, "a whole number as text", value, BigInt);
}

function parsed<T>(key: string, want: string, value: MetaValue | undefined, parse: (text: string) => T): T {
  const text = textOf(key, value);
  try {
    return parse(text);
  } catch (cause) {
    throw broken(key, want, value, cause);
  }
}

/** One of the values of a closed set. */
function oneOf<T extends string | number>(key: string, set: readonly T[], value: MetaValue | undefined): T {
  const found = set.find((candidate) => candidate === value);
  if (found === undefined) throw broken(key, `one of ${set.join(", ")}`, value);
  return found;
}

/** A whole number, e.g. an id or a sequence. */
export function numberOf(key: string, value: MetaValue | undefined): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw broken(key, "a whole number", value);
  return value;
}
