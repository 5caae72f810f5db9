/**
 * A plan for the tables of several shards of one node: it is read once, and again only for a table that has another schema, or where it is
 * more than operators above one scan. Reading a plan takes a sixth of a node's time in a point query.
 */
import type { TableId } from "../../base/units.ts";
import { inputsOf, type PlanNode } from "../../query/operator/contract/node.ts";
import type { ScannedTable, Table } from "../../table/catalog.ts";
import type { TableSchema } from "../../table/schema.ts";
import { planOver } from "./shard-tables.ts";

/** See the file header. */
export class SharedPlan {
  private readonly bytes: Uint8Array;
  private readonly tableId: TableId;
  private first: { readonly plan: PlanNode; readonly schema: TableSchema; readonly bytes: number } | undefined;

  constructor(bytes: Uint8Array, tableId: TableId) {
    this.bytes = bytes;
    this.tableId = tableId;
  }

  /** The plan over one of them. @param reserve takes as much for each @throws as `planOver` */
  over(table: ScannedTable, reserve: (bytes: number) => void): PlanNode {
    const { first } = this;
    const { schema } = table;
    if (first !== undefined && first.schema.id === schema.id && first.schema.version === schema.version) {
      const plan = chainOver(first.plan, table);
      if (plan !== undefined) {
        reserve(first.bytes);
        return plan;
      }
    }
    let bytes = 0;
    const plan = planOver(this.bytes, this.tableId, table, (more) => {
      bytes += more;
      reserve(more);
    });
    this.first ??= { plan, schema, bytes };
    return plan;
  }
}

/** The same plan over another table, where it is operators above one scan; undefined: it is something else. */
function chainOver(node: PlanNode, table: ScannedTable): PlanNode | undefined {
  if (node.kind === "scan") return { ...node, table };
  if (!("input" in node) || inputsOf(node).length !== 1) return undefined;
  const input = chainOver(node.input, table);
  if (input === undefined) return undefined;
  switch (node.kind) {
    case "filter":
    case "project":
    case "overlap":
    case "sort":
      return { ...node, input };
    case "aggregate":
      return { ...node, input, table: node.table === undefined ? undefined : table };
    case "newest-first":
      return isWhole(table) ? { ...node, input, table } : undefined;
    default:
      return undefined;
  }
}

/** As plans that are read tell whole tables from parts of them. */
function isWhole(table: ScannedTable): table is Table {
  return "statistics" in table;
}
