/** A plan that is read once gives what one gives that is read for each table. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { EngineFixture } from "../../../test/support/engine-fixture.ts";
import { planOf } from "../../../test/support/plan-run.ts";
import type { PlanNode } from "../../query/operator/contract/node.ts";
import { encodePlan } from "../../query/operator/contract/plan-bytes.ts";
import { fragmentBytes, fragmentOf } from "../../query/operator/parallel/fragment.ts";
import type { Table } from "../../table/catalog.ts";
import { planOver } from "./shard-tables.ts";
import { SharedPlan } from "./shared-plan.ts";

let fixture: EngineFixture;
let table: Table;

beforeAll(async () => {
  fixture = await EngineFixture.start();
  await fixture.sql("CREATE TABLE t (ts TIMESTAMP TIME INDEX, host STRING PRIMARY KEY, v DOUBLE)");
  table = fixture.machine.engine.table("public", "t") as Table;
});

afterAll(() => fixture.machine.engine.close());

/** The same table as another shard has it. */
const other = (more: PropertyDescriptorMap = {}): Table => Object.create(table, more) as Table;

/** The largest part of a statement's plan that may go elsewhere. */
function fragmentOfSql(sql: string): Uint8Array<ArrayBuffer> {
  const open: PlanNode[] = [planOf(sql, fixture.machine.engine).plan];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const fragment = fragmentOf(node);
    if (fragment !== undefined) return fragmentBytes(fragment, true);
    if ("input" in node) open.push(node.input);
  }
  throw new Error("a plan with a part that may go");
}

/** Tables that a plan holds. */
function tablesOf(node: PlanNode): readonly unknown[] {
  const own = "table" in node && node.table !== undefined ? [node.table] : [];
  return "input" in node ? [...own, ...tablesOf(node.input)] : own;
}

test.each([
  "SELECT host, v FROM t WHERE host = 'a' AND v > 1",
  "SELECT host, count(*), sum(v + 1) FROM t WHERE v > 1 GROUP BY host",
  "SELECT date_bin('1 minute'::INTERVAL, ts) AS b, max(v) FROM t GROUP BY b",
  "SELECT v FROM t ORDER BY v LIMIT 3",
  "SELECT * FROM t WHERE host = 'a' ORDER BY ts DESC LIMIT 1",
])("%s", (sql) => {
  const bytes = fragmentOfSql(sql);
  const { id } = table.schema;
  let taken = 0;
  const reserve = (more: number): void => void (taken += more);
  const shared = new SharedPlan(bytes, id);
  expect(encodePlan(shared.over(table, reserve))).toEqual(bytes);
  const once = taken;
  const second = other();
  const plan = shared.over(second, reserve);
  expect(encodePlan(plan)).toEqual(bytes);
  expect(taken).toBe(2 * once);
  const held = tablesOf(plan);
  expect(held.length).toBe(tablesOf(planOver(bytes, id, second, reserve)).length);
  for (const each of held) expect(each).toBe(second);
});

test("a table of another schema has the plan read for it", () => {
  const bytes = fragmentOfSql("SELECT host FROM t WHERE host = 'a'");
  const shared = new SharedPlan(bytes, table.schema.id);
  shared.over(table, () => undefined);
  const { schema } = table;
  const columns = schema.columns.map((column) => (column.name === "host" ? { ...column, semantic: "field" as const } : column));
  const changed = other({ schema: { value: { ...schema, version: schema.version + 1, columns } } });
  expect(() => shared.over(changed, () => undefined)).toThrow("column host is no tag any more");
});
