/** Joins of which some parts stay in memory and others go to disk give what they give in plenty; the oracle joins by nested loops. */
import { beforeAll, expect, test } from "bun:test";
import { MemorySpill } from "../../../../test/support/memory-spill.ts";
import { type Answer, QueryFixture } from "../../../../test/support/query-fixture.ts";

const ROWS = 400;
/** Of these the right side, of some 25 KiB with its index, does not fit at all, in part, and whole. */
const KIBIBYTES: readonly number[] = [8, 16, 24, 32, 40, 48, 56, 64, 160];

let data: QueryFixture;
beforeAll(async () => {
  data = new QueryFixture();
  await data.sql("CREATE TABLE l (k BIGINT, w BIGINT, s STRING, v BIGINT, ts TIMESTAMP TIME INDEX)");
  await data.sql("CREATE TABLE r (k BIGINT, w BIGINT, s STRING, v BIGINT, ts TIMESTAMP TIME INDEX)");
  let seed = 11;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const some = (text: string): string => (random(30) === 0 ? "NULL" : text);
  for (const table of ["l", "r"]) {
    const rows = Array.from({ length: ROWS }, (_, i) => {
      const key = random(250);
      return `(${some(String(key))}, ${some(`90071992547${40000 + key}`)}, ${some(`'s${key % 110}'`)}, ${i}, ${i})`;
    });
    await data.sql(`INSERT INTO ${table} VALUES ${rows.join(", ")}`);
    const stored = data.catalog.table("public", table);
    if (stored !== undefined) stored.batchRows = 50;
  }
});

const lines = ({ rows }: Answer): readonly string[] => rows.map((row) => row.map(String).join("|")).sort();

/** Runs a query with more and more memory: less and less goes to disk, in several steps. @returns by memory, bytes on disk */
async function check(sql: string): Promise<readonly number[]> {
  const want = lines(await data.sql(sql, { forceInterpreter: true }));
  const written: number[] = [];
  for (const kibibytes of KIBIBYTES) {
    const spill = new MemorySpill();
    const got = lines(await data.sql(sql, { memoryBytesMax: kibibytes * 1024, spill }));
    expect(got, `${sql}, ${kibibytes} KiB`).toEqual([...want]);
    expect(spill.open, "open files").toBe(0);
    written.push(spill.written);
  }
  return written;
}

test.each(["JOIN", "LEFT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"])(
  "%s, by numbers, numbers beyond 2^53, texts and several keys",
  async (kind) => {
    const isLeftAlone = kind.includes("SEMI") || kind.includes("ANTI");
    const shown = isLeftAlone ? "l.v, l.s" : "l.v, l.s, r.v, r.s";
    for (const on of ["l.k = r.k", "l.w = r.w", "l.s = r.s", "l.k = r.k AND l.s = r.s", "l.w = r.w AND l.v < r.v + 100"]) {
      const written = await check(`SELECT ${shown} FROM l ${kind} r ON ${on}`);
      expect(written.at(-1), `${kind} ${on} in plenty`).toBe(0);
      const most = Math.max(...written);
      const isSome = written.some((bytes) => bytes > 0 && bytes < most / 2);
      // What only asks for keys holds too little for it.
      if (!isLeftAlone) expect(isSome, `some parts on disk, some not: ${on}, ${written.join(" ")}`).toBe(true);
    }
  },
);

test("NOT IN, with NULLs on the right and without", async () => {
  await check("SELECT v FROM l WHERE w NOT IN (SELECT w FROM r WHERE k % 3 = 0)");
  await check("SELECT v FROM l WHERE w NOT IN (SELECT w FROM r WHERE k % 3 = 0 AND w IS NOT NULL)");
});
