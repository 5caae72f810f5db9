/** Tables of the metric engine in several shards: each series in the shard that its labels say, one table to all who ask. */
import { describe, expect, test } from "bun:test";
import { read } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";
import { metricBatch, type Sample } from "../../../test/support/metric-batch.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { STRING, TIMESTAMP_MILLISECOND } from "../../column/data-type.ts";
import { RowBatchBuilder } from "../../table/rows/row-batch-builder.ts";
import { SeriesDictionary } from "../../table/series-dictionary.ts";
import { logicalPlacementOf, markOf, shardOf, tagTextsOf } from "../../table/shards/placement.ts";
import type { WriteOptions } from "../../table/write-batch.ts";
import type { IngestThread } from "../threads/ingest-thread.ts";

const SHARDS = 3;
const HOSTS = 60;
const METRICS: WriteOptions = { autoCreate: true, tableOptions: {}, physicalTable: "phy" };

const host = (n: number): string => `h${String(n).padStart(2, "0")}`;
const sample = (metric: string, labels: Sample["labels"], time: number, value: number): Sample => ({ metric, labels, time, value });
/** A row of each host. */
const ofAll = (time: number, value = time): Sample[] =>
  Array.from({ length: HOSTS }, (_, n) => sample("up", { host: host(n) }, time, value));

const start = (shards: number = SHARDS, threads = 0): Promise<Machine> => Machine.start({ shards, threads });

async function send(machine: Machine, samples: readonly Sample[], thread = 0, dictionary?: SeriesDictionary): Promise<void> {
  (machine.writer(thread) as Partial<IngestThread>).refresh?.();
  await machine.writer(thread).write("public", metricBatch(samples, "phy", dictionary), METRICS);
}

/** Rows of files of each shard. */
function rowsOfShards({ meta }: Machine): number[] {
  const rows = new Array<number>(SHARDS).fill(0);
  for (const { key, value } of meta.list("file/")) {
    const shard = Math.floor(Number(key.split("/")[1]) / 2 ** 22);
    rows[shard]! += (value as { rowCount: number }).rowCount;
  }
  return rows;
}

/** How many of tag sets are to lie in each shard. */
function countsWanted({ engine }: Machine, table: string, sets: readonly Sample["labels"][]): number[] {
  const [schema, physical] = [engine.table("public", table)!.schema, engine.table("public", "phy")!.schema];
  const placement = logicalPlacementOf(schema, physical, SHARDS);
  const counts = new Array<number>(SHARDS).fill(0);
  for (const labels of sets) {
    const texts = tagTextsOf({ table, names: Object.keys(labels), values: Object.values(labels) }, placement);
    counts[shardOf(placement, markOf(placement, texts), SHARDS)]!++;
  }
  return counts;
}

const statistics = ({ engine }: Machine, table: string): { rows: number; series: number } => {
  const { rowCount, seriesCount } = engine.table("public", table)!.statistics();
  return { rows: rowCount, series: seriesCount };
};

describe("series of one metric", () => {
  test("lie in all shards, each where its labels say, and a start finds them there again", async () => {
    const machine = await start();
    await send(machine, ofAll(1));
    await machine.engine.flushTable("public", "up");
    const want = countsWanted(
      machine,
      "up",
      ofAll(1).map(({ labels }) => labels),
    );
    expect([rowsOfShards(machine), Math.min(...want) > 0]).toEqual([want, true]);
    for (const again of [() => machine.crash(), () => machine.restart(), () => machine.engine.keepUp()]) {
      await again();
      await send(machine, ofAll(1, 5)); // By a decoder that knows nothing yet.
      expect(await read(machine.engine, "up")).toEqual(ofAll(1).map(({ labels }) => `1|5|'${labels["host"]}'`));
    }
    await machine.engine.flushTable("public", "phy");
    await machine.engine.compactTable("public", "phy");
    expect([rowsOfShards(machine), statistics(machine, "up"), statistics(machine, "phy")]).toEqual([
      want,
      { rows: HOSTS, series: HOSTS },
      { rows: HOSTS, series: HOSTS },
    ]);
  });

  test("stay where they are when the metric gets another label", async () => {
    const machine = await start();
    const dictionary = new SeriesDictionary();
    await send(machine, ofAll(1), 0, dictionary);
    await send(machine, [sample("up", { host: host(0), zone: "z" }, 1, 2)], 0, dictionary);
    await send(machine, ofAll(1, 3), 0, dictionary);
    await send(machine, ofAll(1, 4));
    expect(await read(machine.engine, "up", { projection: ["greptime_value", "zone"] })).toEqual([
      "4|NULL",
      "2|'z'",
      ...new Array<string>(HOSTS - 1).fill("4|NULL"),
    ]);
    expect(statistics(machine, "up").series).toBe(HOSTS + 1);
  });

  test("are taken by a delete, in memory and in files, by their key or by a range", async () => {
    const machine = await start();
    await send(machine, ofAll(1));
    await send(machine, [sample("down", { host: host(7) }, 1, 1)]);
    const left = async (): Promise<string[]> => (await engineSql(machine.engine, "SELECT host FROM up ORDER BY host")).split("\n");
    await engineSql(machine.engine, `DELETE FROM up WHERE host = '${host(7)}'`);
    await machine.engine.flushTable("public", "phy");
    await machine.crash(); // No series is known.
    const keys = new RowBatchBuilder("up", [
      { name: "host", type: STRING, semantic: "tag" },
      { name: "greptime_timestamp", type: TIMESTAMP_MILLISECOND, semantic: "timestamp" },
    ]);
    for (const n of [8, 9, 10, 99]) keys.add([host(n), 1n]);
    await machine.engine.delete("public", keys.batch());
    const want = Array.from({ length: HOSTS }, (_, n) => host(n)).filter((_, n) => n < 7 || n > 10);
    for (const again of [() => machine.crash(), () => machine.restart(), () => machine.engine.compactTable("public", "phy")]) {
      expect(await left()).toEqual(want);
      await again();
    }
    expect(await left()).toEqual(want);
    expect(await read(machine.engine, "down")).toEqual(["1|1|'h07'"]);
  });
});

describe("one request", () => {
  test.each([0, 1])("is one record, whole or not at all, on the engine's thread or another (%i)", async (thread) => {
    const machine = await start(SHARDS, 1);
    await send(machine, ofAll(1), thread);
    await send(machine, ofAll(2), thread);
    machine.logOf(thread).failNextWrite("no space left");
    expect((await failureOf(send(machine, ofAll(3), thread))).message).toContain("no space left");
    expect(await read(machine.engine, "up")).toHaveLength(2 * HOSTS);
    await send(machine, ofAll(4), thread);
    let records = 0;
    await machine
      .logOf(thread)
      .crash()
      .recover(() => void records++);
    expect(records).toBe(3);
    await machine.crash();
    expect(await read(machine.engine, "up", { projection: ["greptime_timestamp"] })).toEqual(ofAll(1).flatMap(() => ["1", "2", "4"]));
  });

  test("may have lines of a logical table, or keys of many metrics", async () => {
    const machine = await start();
    const many = Array.from({ length: 300 }, (_, n) => sample(`m${n % 20}`, { host: host(n), [`l${n % 7}`]: "é\u{1f600}" }, 1, n));
    await send(machine, many);
    await engineSql(machine.engine, "INSERT INTO m3 (greptime_timestamp, greptime_value, host, l3) VALUES (1, -1, 'h03', 'é\u{1f600}')");
    await machine.engine.flushTable("public", "phy");
    expect(await engineSql(machine.engine, "SELECT greptime_value FROM m3 WHERE host = 'h03'")).toBe("-1");
    expect(await engineSql(machine.engine, "SELECT count(*), sum(greptime_value), count(DISTINCT __table_id) FROM phy")).toBe(
      `300|${(299 * 300) / 2 - 4}|20`,
    );
    expect(statistics(machine, "phy")).toEqual({ rows: 300, series: 300 });
  });
});

describe("a metric", () => {
  test("that is emptied or dropped is so in all shards, and its rows leave the files of all", async () => {
    const machine = await start();
    await send(machine, [...ofAll(1), ...ofAll(1).map((each) => ({ ...each, metric: "down" }))]);
    await machine.engine.flushTable("public", "phy");
    await machine.engine.truncateTable("public", "up");
    expect([await read(machine.engine, "up"), await engineSql(machine.engine, "SELECT count(*) FROM phy")]).toEqual([[], String(HOSTS)]);
    expect(machine.meta.list("unclean/")).toHaveLength(SHARDS);
    await machine.crash();
    await send(machine, ofAll(2)); // Elsewhere, as a table of another id.
    expect(await read(machine.engine, "up")).toHaveLength(HOSTS);
    await machine.engine.dropTable("public", "down", false);
    await machine.engine.flushTable("public", "phy");
    await machine.engine.compactTable("public", "phy");
    expect([rowsOfShards(machine).reduce((sum, rows) => sum + rows), machine.meta.list("unclean/")]).toEqual([HOSTS, []]);
    expect((await failureOf(machine.engine.dropTable("public", "phy", false))).message).toContain("Physical region is busy");
    await machine.engine.dropTable("public", "up", false);
    await machine.engine.dropTable("public", "phy", false);
    const left = ["file/", "flushed/", "unclean/"].flatMap((prefix) => machine.meta.list(prefix));
    expect([machine.files.size, left]).toEqual([0, []]);
    await machine.crash();
    expect(machine.engine.tables("public")).toEqual([]);
  });

  test("lets go of its series when nobody has them", async () => {
    const machine = await start();
    await send(machine, ofAll(1));
    const views: WeakRef<object>[] = [];
    const look = async (): Promise<void> => {
      await read(machine.engine, "up");
      views.push(new WeakRef(machine.engine.table("public", "up")!.series));
    };
    await look();
    await machine.engine.keepUp(); // The cache's part of it: they are void.
    for (let i = 0; i < 20 && views[0]?.deref() !== undefined; i++) {
      await Bun.sleep(1);
      Bun.gc(true);
    }
    expect(views[0]?.deref()).toBeUndefined();
    await look();
  });
});

test("tables answer as those of one shard do, in the same order where none is asked for", async () => {
  const answers: string[][] = [];
  for (const shards of [1, SHARDS]) {
    const machine = await start(shards);
    const many = Array.from({ length: 400 }, (_, n) => sample(`m${n % 12}`, { host: host(n % 50), job: `j${n % 3}` }, 1 + (n % 5), n));
    await send(machine, many);
    await machine.engine.flushTable("public", "phy");
    await send(machine, [sample("m1", { host: "new", zone: "z" }, 1, 1000)]);
    const texts = [
      "SELECT * FROM m1",
      "SELECT * FROM phy",
      "SELECT host, __tsid FROM phy WHERE job = 'j1' LIMIT 7",
      "SELECT job, count(*), max(greptime_value) FROM phy GROUP BY job ORDER BY job",
      "SELECT DISTINCT host FROM m2 ORDER BY host DESC",
      "SELECT host, last_value(greptime_value ORDER BY greptime_timestamp) FROM m3 GROUP BY host ORDER BY host",
    ];
    const found: string[] = [];
    for (const text of texts) found.push(await engineSql(machine.engine, text));
    answers.push(found);
  }
  expect(answers[1]).toEqual(answers[0]!);
});
