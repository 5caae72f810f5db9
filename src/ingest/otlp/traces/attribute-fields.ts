/**
 * Columns of attributes once all spans are read: a type for each, its values under it, and the spans that have one that does not go
 * (contract ingest.md 4.3).
 */
import { invalidArguments } from "../../../base/error.ts";
import { type DataType, displayName, FLOAT64, INT64, sameType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import type { FieldWrite, SchemaLookup } from "../../../table/write-batch.ts";
import { CELLS_MAX } from "../limits.ts";
import { type AttributeColumn, bitOfType, kindsOf } from "./attribute-column.ts";
import { coerced, type Kept, type Sent, type SentKind, shown, typeOfNew } from "./reconcile.ts";
import { SEMANTIC_TYPES } from "./semantic-types.ts";
import { type Run, type SharedColumn, vectorOfRuns } from "./shared-attributes.ts";

/** Where the columns go. */
export interface AttributeTarget {
  readonly database: string;
  readonly table: string;
  readonly schemas: SchemaLookup;
  readonly rowCount: number;
  /** Bytes that a column may take. */
  readonly bytesMax: number;
  /** Names the span of a row. */
  readonly labelOf: (row: number) => string;
}

/**
 * The columns, those of spans first. Rows that cannot be kept are added to `refused` with their reasons; the values of theirs that did not
 * go are NULL. A column none of whose rows are kept is left out.
 *
 * @throws DbError InvalidArguments when the columns of all rows are too many cells
 */
export function attributeFields(
  columns: readonly AttributeColumn[],
  shared: readonly SharedColumn[],
  target: AttributeTarget,
  refused: Map<number, string>,
): FieldWrite[] {
  const count = columns.length + shared.length;
  if (count * target.rowCount > CELLS_MAX) {
    const why = `${target.rowCount} spans with ${count} different attributes are more than ${CELLS_MAX} cells`;
    throw invalidArguments(`cannot take the request: ${why}; send fewer spans at a time`);
  }
  const own = columns.map((column) => ownField(column, target, refused));
  const others = shared.map((column) => sharedField(column, target, refused));
  const fields = [...own, ...others];
  return refused.size === 0 ? fields : fields.filter(({ vector }) => hasKept(vector, target.rowCount, refused));
}

function ownField(column: AttributeColumn, target: AttributeTarget, refused: Map<number, string>): FieldWrite {
  const { name } = column;
  const { type, ...how } = typeOf(name, kindsOf(column.kinds), target);
  if (column.kinds === bitOfType(type)) return { name, type, ...how, vector: column.vector(target.rowCount) };
  const values = new Array<Kept>(target.rowCount).fill(undefined);
  for (let cell = 0; cell < column.count; cell++) {
    const sent = column.sentAt(cell);
    const row = column.rowAt(cell);
    const kept = coerced(sent, type);
    if (kept !== undefined) values[row] = kept;
    else if (!refused.has(row)) refused.set(row, reason(name, sent, type, target, row));
  }
  return { name, type, ...how, vector: vectorOf(type, values) };
}

function sharedField(column: SharedColumn, target: AttributeTarget, refused: Map<number, string>): FieldWrite {
  const { name, runs } = column;
  const { type, ...how } = typeOf(name, column.kinds, target);
  const keptOf = ({ from, to, sent }: Run): Kept => {
    const kept = coerced(sent, type);
    if (kept === undefined) {
      for (let row = from; row < to; row++) if (!refused.has(row)) refused.set(row, reason(name, sent, type, target, row));
    }
    return kept;
  };
  return { name, type, ...how, vector: vectorOfRuns(type, runs, target.rowCount, target.bytesMax, keptOf) };
}

/**
 * The type of an attribute's column: that of the table, that of the conventions, or one that all of its values go to. A BIGINT column of
 * the table that gets doubles beside integers becomes DOUBLE, unless the conventions have it as BIGINT.
 */
function typeOf(
  name: string,
  kinds: ReadonlySet<SentKind>,
  { schemas, database, table }: AttributeTarget,
): Pick<FieldWrite, "type" | "widens"> {
  const known = schemas.columnOf(database, table, name);
  const usual = SEMANTIC_TYPES.get(name);
  if (known === undefined) return { type: usual ?? typeOfNew(kinds) };
  const isNarrow = known.semantic === "field" && sameType(known.type, INT64) && usual === undefined;
  const isWidened = isNarrow && kinds.has("double") && [...kinds].every((kind) => kind === "int" || kind === "double");
  return isWidened ? { type: FLOAT64, widens: true } : { type: known.type };
}

function reason(name: string, sent: Sent, type: DataType, { table, labelOf }: AttributeTarget, row: number): string {
  const why = `failed to coerce trace column '${name}' in table '${table}' from ${shown(sent)} to ${displayName(type)}`;
  return `Rejected span ${labelOf(row)} (InvalidArguments): ${why}`;
}

function hasKept(vector: Vector, rowCount: number, refused: ReadonlyMap<number, string>): boolean {
  if (vector.kind === "dictionary" || vector.kind === "coded") return true;
  for (let row = 0; row < rowCount; row++) if (vector.validity?.[row] !== 0 && !refused.has(row)) return true;
  return false;
}
