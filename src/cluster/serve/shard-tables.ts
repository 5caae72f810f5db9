/** Tables of one shard for requests that come from elsewhere: by their ids, and checked against what plans think of them. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { TableId } from "../../base/units.ts";
import type { Engine } from "../../engine/engine.ts";
import { inputsOf, type PlanNode } from "../../query/operator/contract/node.ts";
import { decodePlan } from "../../query/operator/contract/plan-bytes.ts";
import type { ScannedTable, Table } from "../../table/catalog.ts";
import { columnNamed, tableNotFound } from "../../table/not-found.ts";
import type { ShardHost } from "../shard/shard-host.ts";

/** The engine's own table of an id. @throws DbError TableNotFound */
export function engineTable(host: ShardHost, id: TableId): Table {
  const table = host.engine.tableOfId(id);
  if (table === undefined) throw tableNotFound("", `of id ${id}`);
  return table;
}

/** All tables that have rows in the shard. */
export function* tablesWithRows(engine: Engine): Generator<Table> {
  for (const { name } of engine.databases()) {
    for (const table of engine.tables(name)) if (table.statistics().rowCount > 0) yield table;
  }
}

/**
 * A plan over one table, which is all that it may read.
 *
 * @throws DbError InvalidArguments for what is no such plan, RequestOutdated when the table is another than the plan thinks
 */
export function planOver(bytes: Uint8Array, tableId: TableId, table: ScannedTable, reserve: (bytes: number) => void): PlanNode {
  const { schema } = table;
  const plan = decodePlan(bytes, {
    reserve,
    table: ({ id, name }) => {
      if (id === tableId) return table; // What the table has in this shard may have another.
      throw new DbError(StatusCode.RequestOutdated, `cannot run a plan over table ${schema.name}: it reads table ${name}; run it again`);
    },
  });
  checkTags(plan);
  return plan;
}

/** Columns that a plan takes for tags are tags: storage relies on that. */
function checkTags(plan: PlanNode): void {
  const open = [plan];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === "scan") {
      for (const { column } of node.request.tagPredicates) {
        if (columnNamed(node.table.schema, column).semantic === "tag") continue;
        const why = `column ${column} is no tag any more`;
        throw new DbError(StatusCode.RequestOutdated, `cannot read table ${node.table.schema.name}: ${why}; run it again`);
      }
    }
    open.push(...inputsOf(node));
  }
}
