import { openLocalEngine } from "../../../test/engine/local-engine.ts";
import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { put, read, refusal } from "../../../test/engine/lines.ts";
import { regionOf } from "../../../test/engine/regions.ts";
import { tableFolder } from "../../storage/sst/data-file.ts";
import type { Engine } from "../engine.ts";

/** An engine on the parts of a server: disk, SQLite, a worker. */
async function openIn(home: string): Promise<Engine> {
  const { engine } = await openLocalEngine(home, { sync: "always", segmentBytes: 1 << 16 });
  return engine;
}

async function withHome(work: (home: string) => Promise<void>): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "varve-engine-"));
  try {
    await work(home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

test("on the parts of a server rows, schemas and drops last", async () => {
  await withHome(async (home) => {
    const first = await openIn(home);
    await put(first, 'cpu,host=a v=1i,s="x" 1\nmem,host=a v=1i 1');
    await first.flushTable("public", "cpu");
    await put(first, "cpu,host=b v=2i 2");
    await first.close();
    const second = await openIn(home);
    const folders = [basename(tableFolder(regionOf(second, "mem").schemaNow.id))];
    expect(await read(second, "cpu")).toEqual(["'a'|1|'x'|1", "'b'|2|NULL|2"]);
    const scan = second.table("public", "cpu")!.scan({
      projection: ["v"],
      timeRange: { start: 0n, end: 10n },
      tagPredicates: [],
      fieldBounds: [],
      order: "none",
    });
    let rows = 0;
    for await (const { rowCount } of scan) {
      rows += rowCount;
      await second.dropTable("public", "cpu", true);
    }
    expect(rows).toBe(2);
    await second.close();
    expect(readdirSync(join(home, "data", "tables"))).toEqual(folders);
    const third = await openIn(home);
    expect(await read(third, "mem")).toEqual(["'a'|1|1"]);
    expect(third.tables("public").length).toBe(1);
    await third.close();
  });
});

test("an engine that was left without closing is replayed by the next", async () => {
  await withHome(async (home) => {
    const left = await openIn(home);
    await put(left, "cpu,host=a v=1i 1");
    const next = await openIn(home);
    expect(await read(next, "cpu")).toEqual(["'a'|1|1"]);
    await next.close();
    expect(existsSync(join(home, "data", "tables"))).toBe(true);
  });
});

test("a damaged log stops the start, and says where", async () => {
  await withHome(async (home) => {
    const first = await openIn(home);
    await put(first, "cpu,host=a v=1i 1");
    await put(first, "cpu,host=b v=2i 2");
    const [segment = ""] = readdirSync(join(home, "wal"));
    const path = join(home, "wal", segment);
    const bytes = await Bun.file(path).bytes();
    bytes[60] = (bytes[60] ?? 0) ^ 1;
    await Bun.write(path, bytes);
    const refused = await refusal(openIn(home));
    expect(refused).toMatchObject({ code: "StorageUnavailable" });
    expect(refused.message).toContain(path);
  });
});
