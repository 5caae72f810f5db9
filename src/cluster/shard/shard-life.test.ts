/** Random lives of a shard: writers, owners one after the other or beside each other, everything that goes wrong; each row is there once. */
import { expect, test } from "bun:test";
import { type Random, seededRandom } from "../../../bench/macro/random.ts";
import { ROUGH, startChaos } from "../../../test/support/cluster/chaos.ts";
import { type OpenRigShard, type RigNode, rowsOf, ShardRig } from "../../../test/support/cluster/shard-rig.ts";
import type { WrittenRow } from "../../../test/support/cluster/record-maker.ts";
import type { ShardWriter } from "../../../test/support/cluster/shard-writer.ts";
import { DbError } from "../../base/error.ts";
import type { TableSchema } from "../../table/schema.ts";

const SHARD = 1;
const TAGS = 4;

interface Owner {
  readonly node: RigNode;
  readonly shard: OpenRigShard;
}

/** What goes through one life. */
class Life {
  readonly rig: ShardRig;
  readonly random: Random;
  readonly tables: { readonly log: TableSchema; readonly last: TableSchema };
  /** Rows of `log`, which keeps each, and of `last`, which keeps the last of each tag and time, as texts. */
  readonly written: string[] = [];
  readonly newest: Map<string, number> = new Map();
  isOver = false;
  private owner: Owner | undefined;
  private readonly stale: Owner[] = [];
  private nodes = 0;
  private rows = 0;
  trims = 0;

  constructor(rig: ShardRig, random: Random, tables: Life["tables"]) {
    this.rig = rig;
    this.random = random;
    this.tables = tables;
  }

  async write(name: string, writer: ShardWriter, records: number): Promise<void> {
    const { random, tables } = this;
    for (let i = 0; i < records; i++) {
      const rows = Array.from({ length: 1 + random.below(3) }, () => this.row(name, this.rows++));
      const last = Array.from({ length: random.below(3) }, () => this.row(name, random.below(5)));
      // One record keeps one row of a key: which of two wins is not what this is about.
      const unique = [...new Map(last.map((row) => [`${row.tag} ${row.time}`, row])).values()];
      await writer.write([tables.log, rows], ...(unique.length === 0 ? [] : [[tables.last, unique] as const]));
      this.written.push(...rows.map(({ tag, time, value }) => `${tag} ${time} ${value}`));
      for (const { tag, time, value } of unique) this.newest.set(`${tag} ${time}`, value);
      await this.rig.cluster.sleep(name, random.below(10) === 0 ? random.below(300_000) : random.below(8000));
    }
  }

  private row(name: string, time: number): WrittenRow {
    return { tag: `${name}${this.random.below(TAGS)}`, time, value: this.random.below(1_000_000) };
  }

  /** Records that were given up come after all. */
  async haunt(writers: readonly ShardWriter[]): Promise<void> {
    const { cluster } = this.rig;
    while (!this.isOver) {
      await cluster.time.sleep(this.random.below(200_000));
      for (const { late } of writers) {
        const at = this.random.below(late.length + 3);
        const message = late[at];
        if (message === undefined) continue;
        late.splice(at, 1);
        cluster.stream(`LOG${SHARD}`).append(`log.${SHARD}`, message);
      }
    }
  }

  async own(): Promise<void> {
    const { random, rig } = this;
    while (!this.isOver) {
      if (this.owner === undefined || this.owner.shard.lost.length > 0) await this.open();
      await rig.cluster.time.sleep(random.below(random.below(4) === 0 ? 60_000 : 10_000));
      await this.act();
    }
  }

  private async open(): Promise<void> {
    const node = await this.insist(() => this.rig.node(`node${++this.nodes}`, { snapshotMessages: 1 + this.random.below(8) }));
    const shard = await this.tried(() => node.open(SHARD));
    if (shard === undefined) await node.kill();
    else this.owner = { node, shard };
  }

  private async act(): Promise<void> {
    const { owner, random } = this;
    if (owner === undefined) return;
    const { engine } = owner.shard.host;
    const { start } = engine.followed;
    switch (random.below(12)) {
      case 0:
        await this.tried(() => engine.flushTable("public", "log"));
        break;
      case 1:
        await this.tried(() => engine.flushTable("public", "last"));
        break;
      case 2:
      case 3:
      case 9:
      case 10:
      case 11:
        for (const name of ["log", "last"]) await this.tried(() => engine.flushTable("public", name));
        break;
      case 4:
        await this.tried(() => engine.compactTable("public", random.below(2) === 0 ? "log" : "last"));
        break;
      case 5:
        await this.tried(() => engine.keepUp());
        break;
      case 6:
        await this.checked(owner);
        break;
      case 7:
        this.owner = undefined;
        if (random.below(2) === 0) await owner.shard.host.close(random.below(2) === 0);
        await owner.node.kill();
        break;
      case 8:
        // It goes on, and does not know.
        this.owner = undefined;
        this.stale.push(owner);
        break;
    }
    if (engine.followed.start.number > start.number) this.trims++;
    const before = this.stale[random.below(this.stale.length + 1)];
    if (before !== undefined) await this.tried(() => before.shard.host.engine.flushTable("public", "log"));
  }

  /** No row is there twice, and none is missing that was acknowledged before. */
  private async checked({ shard: { host } }: Owner): Promise<void> {
    const acknowledged = [...this.written];
    const last = await this.tried(() => this.rig.cluster.stream(`LOG${SHARD}`).lastNumber);
    if (last === undefined || (await this.tried(() => host.reach(last).then(() => true))) !== true) return;
    const rows = await rowsOf(host.table(this.tables.log.id));
    expect(new Set(rows).size).toBe(rows.length);
    expect(new Set(rows).isSupersetOf(new Set(acknowledged))).toBe(true);
  }

  async end(): Promise<void> {
    const { rig, tables } = this;
    const node = await rig.node("last");
    const { host } = await node.open(SHARD);
    expect(await rowsOf(host.table(tables.log.id))).toEqual(this.written.sort());
    const newest = [...this.newest].map(([key, value]) => `${key} ${value}`).sort();
    expect(await rowsOf(host.table(tables.last.id))).toEqual(newest);
    for (const name of ["log", "last"]) await host.engine.flushTable("public", name);
    expect(await rowsOf(host.table(tables.log.id))).toEqual(this.written);
    for (const { node: before } of [...this.stale, ...(this.owner === undefined ? [] : [this.owner])]) await before.kill();
    await node.kill();
  }

  private async tried<T>(work: () => Promise<T> | T): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      return undefined;
    }
  }

  private async insist<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      const made = await this.tried(work);
      if (made !== undefined) return made;
      await this.rig.cluster.time.sleep(1000);
    }
  }
}

async function live(seed: number): Promise<Life> {
  const random = seededRandom(seed);
  const messageBytesMax = random.below(2) === 0 ? 1024 * 1024 : 260;
  const rig = await ShardRig.start({ seed });
  (rig.cluster as { messageBytesMax: number }).messageBytesMax = messageBytesMax;
  const tables = { log: await rig.table("log", { append_mode: "true" }), last: await rig.table("last") };
  const life = new Life(rig, random, tables);
  const names = ["w1", "w2", "w3"];
  const writers = names.map((name) => rig.writer(SHARD, name));
  rig.cluster.rates = ROUGH;
  const calm = startChaos(rig.cluster, [...names, ...Array.from({ length: 30 }, (_, i) => `node${i + 1}`)]);
  const owning = life.own();
  const haunting = life.haunt(writers);
  await Promise.all(writers.map((writer, i) => life.write(names[i] as string, writer, 40)));
  life.isOver = true;
  calm();
  await Promise.all([owning, haunting]);
  await life.end();
  await rig.close();
  return life;
}

const SEEDS = Number(process.env["VARVE_SHARD_LIVES"] ?? 12);

test.each(Array.from({ length: SEEDS }, (_, i) => i + 1))("seed %i", async (seed) => {
  const { written } = await live(seed);
  expect(written.length).toBeGreaterThan(100);
});
