import { expect, test } from "bun:test";
import fc from "fast-check";
import { hasTime, lineEnd, measurementOf } from "./line-end.ts";
import { type LineOptions, piecesOf } from "./line-source.ts";
import type { Piece, Start } from "./source.ts";

const OPTIONS: LineOptions = {
  database: "public",
  precision: "ns",
  rowsMax: 3,
  bytesMax: 60,
  nanos: 77n,
  isExport: false,
  isDatabaseFixed: false,
  onDatabase: async () => undefined,
};

async function pieces(text: string, parts: Partial<LineOptions> = {}, step = 7, start: Start = { at: 0, context: {} }): Promise<Piece[]> {
  const bytes = Buffer.from(text).subarray(start.at);
  const given = (async function* () {
    for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
  })();
  return await Array.fromAsync(piecesOf(given, start, { ...OPTIONS, ...parts }));
}

const bodies = (all: readonly Piece[]): readonly string[] => all.map(({ body }) => Buffer.from(body).toString());

const LINES = fc.array(
  fc.constantFrom(
    "m,h=a v=1 1\n",
    'm v="a\nb" 2\n',
    "# remark\n",
    "\n",
    'm s="\\"x=1 5",t="" 3\r\n',
    "m v=1\n",
    "m\\ x,h=a\\,b v=1i 4\n",
    'm v="open 5\n',
  ),
  { maxLength: 20 },
);

test("pieces are the same however bytes come, and from wherever one ended", async () => {
  await fc.assert(
    fc.asyncProperty(LINES, fc.integer({ min: 1, max: 40 }), async (lines, step) => {
      const text = lines.join("");
      const whole = await pieces(text, {}, 10_000);
      expect(await pieces(text, {}, step).then(bodies)).toEqual(bodies(whole));
      for (const [i, piece] of whole.entries()) {
        const left = await pieces(text, {}, step, { at: piece.to, context: piece.context });
        expect(bodies(left)).toEqual(bodies(whole.slice(i + 1)));
        expect(left.map(({ from, to, place }) => [from, to, place])).toEqual(
          whole.slice(i + 1).map(({ from, to, place }) => [from, to, place]),
        );
      }
      for (let i = 1; i < whole.length; i++) expect(whole[i]?.from).toBe(whole[i - 1]?.to ?? 0);
    }),
    { seed: 5, numRuns: 200 },
  );
});

test("lines without a time get one, and nothing else is changed", async () => {
  expect(bodies(await pieces("m v=1\nm v=2 5\r\nm v=3\r\n  \nm v=4"))).toEqual(["m v=1 77\nm v=2 5\r\nm v=3 77\r\n", "  \nm v=4 77"]);
  expect(bodies(await pieces("m v=1", { precision: "ms", nanos: 5_000_000n }))).toEqual(["m v=1 5"]);
  expect([...((await pieces("m\\ x,h=a v=1 1\nn v=2 2\n"))[0]?.tables() ?? [])]).toEqual(["m x", "n"]);
});

test("remarks of an export choose the database, unless it is given", async () => {
  const made: string[] = [];
  const text =
    '# DDL\nCREATE DATABASE "a \\"b" WITH NAME x\n# DML\n# CONTEXT-DATABASE:c\nm v=1 1\n# CONTEXT-DATABASE:d\nm v=2 2\nm v=3 3\n';
  const onDatabase = async (name: string): Promise<void> => void made.push(name);
  const found = await pieces(text, { isExport: true, onDatabase });
  expect(found.map(({ database, rowCount }) => [database, rowCount])).toEqual([
    ["c", 1],
    ["d", 2],
  ]);
  expect(made).toEqual(['a "b', "c", "d"]);
  expect((await pieces(text, { isExport: true, isDatabaseFixed: true })).map(({ database }) => database)).toEqual(["public", "public"]);
  const [first] = found;
  const left = await pieces(text, { isExport: true }, 3, { at: first?.to ?? 0, context: first?.context ?? {} });
  expect(left.map(({ database }) => database)).toEqual(["d"]);
});

test("ends of lines, times and measurements", () => {
  const end = (text: string, isLast = true): number => lineEnd(Buffer.from(text), 0, Buffer.byteLength(text), isLast);
  expect(end('m v="a\nb" 1\nx')).toBe(12);
  expect(end('m v="a\nb', false)).toBe(-1);
  expect(end('m v="a\nb')).toBe(7);
  expect(end('# "a\nb', false)).toBe(5);
  expect(end("m v=1", false)).toBe(-1);
  const timed = (line: string): boolean => hasTime(Buffer.from(line), 0, Buffer.byteLength(line));
  for (const line of ["m v=1 1", "m v=1 -1\r\n", "m,h=a v=1i 12  \n"]) expect(timed(line)).toBe(true);
  for (const line of ["m v=1", "m v=1i", "m,h=a\\ 1 v=1", 'm v="x 1"', "m", ""]) expect(timed(line)).toBe(false);
  const named = (line: string): string | undefined => measurementOf(Buffer.from(line), 0, Buffer.byteLength(line));
  expect(["a,b=c d=1", "a\\,b v=1", "  a v=1", "# a", "\n", ""].map(named)).toEqual(["a", "a,b", "a", undefined, undefined, undefined]);
});
