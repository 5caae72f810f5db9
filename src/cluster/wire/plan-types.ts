/**
 * The types of the columns that a plan gives, by its bytes: what comes is checked against them. One that was written here is not read: that
 * took 5 % of a frontend's time in a point query.
 */
import type { DataType } from "../../column/data-type.ts";
import { columnsWritten, decodePlan } from "../../query/operator/contract/plan-bytes.ts";
import type { ScannedTable } from "../../table/catalog.ts";

/** Of plans that somebody holds: one goes to all shards. */
const known = new WeakMap<Uint8Array, readonly DataType[]>();

/** See the file header. @param plan nobody changes it @throws DbError InvalidArguments for bytes that are no plan */
export function typesOfPlan(plan: Uint8Array): readonly DataType[] {
  const types = known.get(plan);
  if (types !== undefined) return types;
  const columns = columnsWritten(plan) ?? decodePlan(plan, { table: () => NO_TABLE }).columns;
  const made = columns.map(({ type }) => type);
  known.set(plan, made);
  return made;
}

/** In the place of tables, which nobody reads here; the node looks whether they have the columns that the plan reads. */
const NO_TABLE = { statistics: () => undefined, schema: { columns: { length: Number.MAX_SAFE_INTEGER } } } as unknown as ScannedTable;
