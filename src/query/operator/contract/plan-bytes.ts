/**
 * Plans as bytes (`../../plan-format/FORMAT.md`), for another thread or another machine. Functions, aggregates and tables go by their
 * names; whoever reads says which tables are meant.
 */
import type { ColumnHeader } from "../../../column/batch.ts";
import { type PlanNames, readBytes } from "../../plan-format/plan-reader.ts";
import { PlanWriter } from "../../plan-format/plan-writer.ts";
import { type PlanNode, planNode } from "./node.ts";

/** Columns of plans that were written here, by their bytes. */
const written = new WeakMap<Uint8Array, readonly ColumnHeader[]>();

/** A plan as bytes. @throws DbError Unsupported when it is too large */
export function encodePlan(plan: PlanNode): Uint8Array<ArrayBuffer> {
  const to = new PlanWriter(planNode);
  planNode.write(plan, to);
  const bytes = to.finish();
  written.set(bytes, plan.columns);
  return bytes;
}

/** What a plan gives that `encodePlan` wrote here; undefined: its bytes come from elsewhere. Nobody has changed them. */
export function columnsWritten(bytes: Uint8Array): readonly ColumnHeader[] | undefined {
  return written.get(bytes);
}

/**
 * The plan again, over the tables that `names` gives.
 *
 * @throws DbError InvalidArguments for other bytes, Unsupported for those of a newer version, and those of `names`
 */
export function decodePlan(bytes: Uint8Array, names: PlanNames): PlanNode {
  return readBytes(bytes, names, (from) => planNode.read(from), planNode);
}
