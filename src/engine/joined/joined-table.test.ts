import { expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { checkScan, startScan } from "../../../test/engine/check-scan.ts";
import { AUTO } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { type ModelRow, TableModel } from "../../../test/engine/model.ts";
import { randomRows, randomScan, randomTable } from "../../../test/engine/random-table.ts";
import type { Table } from "../../table/catalog.ts";
import type { RowKeys } from "../../table/delete.ts";
import { RowBatchBuilder } from "../../table/rows/row-batch-builder.ts";
import { ALL_TIME, type ScanRequest } from "../../table/scan.ts";
import { JoinedTable } from "./joined-table.ts";

const PARTS = 3;
const STEPS = 60;
const SEEDS = Array.from({ length: 12 }, (_, i) => i + 1);

test.each(SEEDS.flatMap((seed) => [[seed, false] as const, [seed, true] as const]))(
  "seed %i: tables that hold each some series of one read as that one (series in several of them: %p)",
  async (seed, repeats) => {
    const random = seededRandom(seed);
    const table = randomTable(random, "t", "ts");
    const model = new TableModel(table.columns, table.mode);
    const options: Record<string, string> = table.mode === "append" ? { append_mode: "true" } : { merge_mode: table.mode };
    const machine = await Machine.start();
    const { engine } = machine;
    const parts: Table[] = [];
    for (let part = 0; part < PARTS; part++) {
      const { columns } = table;
      const made = { database: "public", name: `t${part}`, columns, primaryKey: model.tagNames, engine: "mito", options };
      parts.push(await engine.createTable(made, false));
    }
    const joined = new JoinedTable(parts, { repeats: () => repeats });
    for (let step = 0; step < STEPS; step++) {
      const dice = random.below(10);
      if (dice < 4) {
        const given = new Set(model.columns.flatMap(({ name, semantic }) => (semantic === "field" && random.below(4) > 0 ? [name] : [])));
        const rows = randomRows(random, table, model, [...given], 1 + random.below(80));
        for (let part = 0; part < PARTS; part++) {
          const own = rows.filter((row) => partOf(model, row, repeats) === part);
          const columns = model.columns.filter(({ name, semantic }) => semantic !== "field" || given.has(name));
          const builder = new RowBatchBuilder(`t${part}`, columns);
          for (const row of own) builder.add(columns.map(({ name }) => row.get(name)));
          if (own.length > 0) await engine.write("public", builder.batch(), AUTO);
        }
        model.write(given, rows);
      } else if (dice === 4) await engine.flushTable("public", `t${random.below(PARTS)}`);
      else if (dice === 5) await engine.keepUp();
      else if (dice === 6 && table.mode !== "append") {
        const { timeRange, tagPredicates } = randomScan(random, table, model);
        const gone = model.scan({ timeRange, tagPredicates });
        expect(await joined.deleteRange({ timeRange, tagPredicates })).toBe(gone.length);
        model.delete(gone);
      } else if (dice === 7 && table.mode !== "append") {
        const watch = joined.watchOverwrites(ALL_TIME);
        const gone = model.scan({ timeRange: ALL_TIME, tagPredicates: [] });
        for (const keys of await keysOf(joined, model)) expect(await joined.deleteRows(keys, watch)).toBe(0);
        watch.end();
        model.delete(gone);
      } else if (dice === 8) {
        // Beside a scan: numbers and snapshots are those of its beginning.
        const scan = await startScan(joined, model, randomScan(random, table, model));
        await engine.flushTable("public", `t${random.below(PARTS)}`);
        await engine.keepUp();
        await scan.finish();
      } else await checkScan(joined, model, randomScan(random, table, model));
    }
    await checkScan(joined, model, { projection: model.columns.map(({ name }) => name), ...EVERYTHING });
    await engine.close();
  },
);

const EVERYTHING: Omit<ScanRequest, "projection"> = { timeRange: ALL_TIME, tagPredicates: [], fieldBounds: [], order: "series-time" };

/** By the tags, or by tags and time, as after a spread that changed often. */
function partOf(model: TableModel, row: ModelRow, repeats: boolean): number {
  const tags = model.tagNames.map((name) => String(row.get(name))).join("|");
  return Number((Bun.hash(tags) + (repeats ? Bun.hash(String(row.get(model.timeName))) : 0n)) % BigInt(PARTS));
}

/** Keys of all rows, by a scan. */
async function keysOf(table: Table, model: TableModel): Promise<readonly RowKeys[]> {
  const numbers = table.series;
  const keys: RowKeys[] = [];
  for await (const { rowCount, runs, vectors } of table.scan({ ...EVERYTHING, order: "none", projection: [model.timeName], numbers })) {
    const series = new Uint32Array(rowCount);
    for (let run = 0; run + 1 < runs.starts.length; run++) series.fill(runs.series[run]!, runs.starts[run], runs.starts[run + 1]);
    const [times] = vectors;
    if (times?.kind !== "time") throw new Error(`times; got ${times?.kind}`);
    keys.push({ rowCount, series, numbers, times: { ...times, offsets: times.offsets.slice(0, rowCount) } });
  }
  return keys;
}
