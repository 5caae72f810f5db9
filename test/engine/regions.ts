/** Where rows of tables lie, for tests that look at regions or count files: with several shards a table has as many regions. */
import { assert } from "../../src/base/assert.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { LiveTables } from "../../src/engine/catalog/live-tables.ts";
import type { Region } from "../../src/storage/region/region.ts";
import type { PutOptions } from "./lines.ts";

/** Options of a write whose table lies in one region, however many shards there are. */
export const ONE_REGION: PutOptions = { tableOptions: { spread: "1" } };

/** The regions that have rows of a table, or had and still have files. */
export function regionsOf(engine: Engine, table = "cpu"): readonly Region[] {
  const { live } = (engine as unknown as { readonly parts: { readonly live: LiveTables } }).parts;
  return live.regionsOf("public", table).filter(({ rowCount, dataFiles }) => rowCount > 0 || dataFiles.length > 0);
}

/** The only one of them: the table is of `ONE_REGION`, or its rows are of one series. */
export function regionOf(engine: Engine, table = "cpu"): Region {
  const [region, other] = regionsOf(engine, table);
  assert(region !== undefined && other === undefined, `rows of ${table} lie in one region`);
  return region;
}
