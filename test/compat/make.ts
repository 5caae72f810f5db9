/**
 * Makes a data directory to be frozen: `bun test/compat/make.ts <folder>`. It is run once for each on-disk format, by the commit that
 * brought it; what it made is never changed. Besides the folder it prints what the tables hold, for `rows.txt`.
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { silentLogger } from "../../src/base/log.ts";
import { Engine } from "../../src/engine/engine.ts";
import { localFileStore } from "../../src/storage/file-store/local-file-store.ts";
import { openSqliteMetaStore } from "../../src/storage/meta-store/sqlite-meta-store.ts";
import { openLocalWal } from "../../src/storage/wal/local-wal.ts";
import { put } from "../engine/lines.ts";
import { plainParts } from "../engine/plain-parts.ts";
import { metricBatch } from "../support/metric-batch.ts";
import { rowsOf } from "./rows.ts";

/** Opens an engine on a data directory as a server lays it out. */
export async function openIn(home: string): Promise<Engine> {
  const files = localFileStore(join(home, "data"));
  const { engine } = await Engine.open({
    wal: await openLocalWal({
      directory: join(home, "wal"),
      sync: "always",
      syncIntervalMs: 100,
      segmentBytes: 1 << 16,
      recovery: "strict",
      logger: silentLogger,
    }),
    meta: openSqliteMetaStore(join(home, "meta.db")),
    ...plainParts(files),
  });
  return engine;
}

const DAY = 86_400_000_000_000n;

/** Tables with all kinds of columns and changes. */
export async function fill(engine: Engine): Promise<void> {
  const times = [1n, 2n, DAY, 30n * DAY, 400n * DAY, -(2n ** 63n), 2n ** 63n - 1n];
  const lines = times.map(
    (time, i) => `kinds,host=h${i % 3},rack=r${i % 2} i=${i}i,u=${i}u,f=${i / 8},s="s ${i}",b=${i % 2 === 0} ${time}`,
  );
  await put(engine, lines.join("\n"));
  await engine.flushTable("public", "kinds");
  await put(engine, `kinds,host=h0,rack=r0 i=-9223372036854775808i,f=1e300 ${DAY}\nkinds,host=new i=1i 5`);
  await engine.flushTable("public", "kinds");
  await put(engine, Array.from({ length: 200 }, (_, i) => `merged,host=h${i % 5} v=${i}i ${i}`).join("\n"));
  await engine.flushTable("public", "merged");
  await put(engine, Array.from({ length: 100 }, (_, i) => `merged,host=h${i % 5} v=${-i}i ${i}`).join("\n"));
  await engine.flushTable("public", "merged");
  await engine.compactTable("public", "merged");
  await put(engine, "kept,host=a v=1i 1\nkept,host=a v=2i 1", { tableOptions: { append_mode: "true" } });
  await put(engine, "filled,host=a v=1i,w=1i 1", { tableOptions: { merge_mode: "last_non_null" } });
  await put(engine, "filled,host=a w=2i 1");
  await put(engine, "altered,host=a v=1i,gone=1i 1");
  await engine.flushTable("public", "altered");
  await engine.alterTable("public", "altered", { kind: "drop-columns", names: ["gone"] });
  await engine.alterTable("public", "altered", { kind: "change-type", column: "v", type: { kind: "string" } });
  const added = {
    name: "w",
    type: { kind: "float", bits: 64 },
    semantic: "field",
    nullable: true,
    default: { kind: "literal", value: 0.5 },
  } as const;
  await engine.alterTable("public", "altered", { kind: "add-columns", columns: [added], ifNotExists: false });
  await put(engine, "former,host=a v=1i 1");
  await engine.alterTable("public", "former", { kind: "rename", name: "renamed" });
  await put(engine, "emptied,host=a v=1i 1");
  await engine.truncateTable("public", "emptied");
  await put(engine, "dropped,host=a v=1i 1");
  await engine.flushTable("public", "dropped");
  await engine.dropTable("public", "dropped", false);
  const samples = Array.from({ length: 40 }, (_, i) => ({
    metric: i % 3 === 0 ? "up" : "load",
    labels: { job: `j${i % 5}`, ...(i % 2 === 0 ? {} : { zone: "eu" }) },
    time: i,
    value: i / 4,
  }));
  const options = { autoCreate: true, tableOptions: {}, physicalTable: "metrics" };
  await engine.write("public", metricBatch(samples.slice(0, 30), "metrics"), options);
  await engine.flushTable("public", "metrics");
  await engine.write("public", metricBatch(samples.slice(20), "metrics"), options);
  await engine.createDatabase("other", { ttl: "1000d" }, false);
}

/** Makes the directory: a clean end, then rows that are only in the log, as a kill leaves them. */
async function make(folder: string): Promise<void> {
  const home = `${folder}.life`;
  rmSync(folder, { recursive: true, force: true });
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  const first = await openIn(home);
  await fill(first);
  await first.close();
  const second = await openIn(home);
  await put(second, 'kinds,host=h0,rack=r1 i=7i,s="from the log" 7\nrenamed,host=b v=2i 2\nemptied,host=b v=2i 2');
  await put(second, "kept,host=a v=3i 1\nfilled,host=a v=3i 1\nmerged,host=h0 v=1000i 0");
  cpSync(home, folder, { recursive: true, filter: (path) => !path.endsWith("-shm") });
  writeFileSync(join(folder, "rows.txt"), await rowsOf(second));
  rmSync(home, { recursive: true });
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error("say where: bun test/compat/make.ts <folder>");
  await make(folder);
  process.exit(0);
}
