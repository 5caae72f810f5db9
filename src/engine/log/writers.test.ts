/** The rule of writers.ts: a test for each row of its table, and what it forgets and saves. The property: writers-property.test.ts. */
import { describe, expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { type WriterId, writerId } from "../../base/units.ts";
import type { RecordOrigin } from "../../storage/memtable/record-origin.ts";
import type { MetaValue } from "../../storage/meta-store/meta-store.ts";
import { type Verdict, Writers } from "./writers.ts";

function origin(number: number, segment = 1, writer = 7): RecordOrigin {
  return { writer: writerId(writer), number, segment, catalogVersion: 0 };
}

/** Verdicts of a follower that knows nothing, in short: `rows!` begins a segment. */
function verdicts(...records: readonly (readonly [number: number, segment: number, writer?: number])[]): string[] {
  const writers = new Writers();
  return records.map(([number, segment, writer]) => shortOf(writers.take(origin(number, segment, writer))));
}

function shortOf(verdict: Verdict): string {
  return "begins" in verdict && verdict.begins ? `${verdict.kind}!` : verdict.kind;
}

describe("a record", () => {
  test("of a segment that its writer gave up is skipped, whatever its number is", () => {
    expect(verdicts([1, 2], [2, 1], [1, 1], [9, 1], [2, 2])).toEqual(["rows!", "older", "older", "older", "rows"]);
  });

  test("behind a gap is skipped, also one of a new segment, and changes nothing", () => {
    expect(verdicts([1, 1], [3, 1], [3, 2], [4, 1], [2, 1], [3, 1])).toEqual(["rows!", "gap", "gap", "gap", "rows", "rows"]);
  });

  test("that counted before gives its definitions, and forgets those of the segment before when it begins one", () => {
    expect(verdicts([1, 1], [2, 1], [1, 2], [2, 2], [3, 2])).toEqual(["rows!", "rows", "definitions!", "definitions", "rows"]);
  });

  test("that is there twice counts once", () => {
    expect(verdicts([1, 1], [1, 1], [2, 1], [2, 1])).toEqual(["rows!", "definitions", "rows", "definitions"]);
  });

  test("that comes next counts, and forgets former definitions when it begins a segment", () => {
    expect(verdicts([1, 1], [2, 1], [3, 4], [4, 4])).toEqual(["rows!", "rows", "rows!", "rows"]);
  });

  test("of a writer that is not known counts if it is its first", () => {
    expect(verdicts([1, 5], [2, 3, 8], [1, 3, 8], [2, 3, 8], [2, 5])).toEqual(["rows!", "gap", "rows!", "rows", "rows"]);
  });
});

test("what is sent again without waiting for answers may rely on a definition that was lost, so a writer waits", () => {
  // Record 2 of segment 2 is lost, and that of segment 1 comes late: record 3 counts, whose segment never defined what record 2 did.
  expect(verdicts([1, 1], [2, 1], [3, 2])).toEqual(["rows!", "rows", "rows!"]);
});

describe("where nothing is sent again", () => {
  test("a record behind a gap is gone on with, and says whether it begins a segment", () => {
    const writers = new Writers();
    expect(writers.leap(origin(5, 2))).toBe(true);
    expect(shortOf(writers.take(origin(6, 2)))).toBe("rows");
    expect(writers.leap(origin(8, 2))).toBe(false);
    expect(writers.leap(origin(11, 3))).toBe(true);
    expect(shortOf(writers.take(origin(12, 3)))).toBe("rows");
  });
});

describe("writers", () => {
  const forgotten: WriterId[] = [];
  const three = (): Writers => {
    forgotten.length = 0;
    const writers = new Writers((writer) => forgotten.push(writer), 3);
    for (const writer of [1, 2, 3]) writers.take(origin(1, 1, writer));
    return writers;
  };

  test("beyond the limit are forgotten, the one first whose last record lies furthest back", () => {
    const writers = three();
    writers.take(origin(2, 1, 1));
    writers.take(origin(1, 1, 4));
    expect(forgotten).toEqual([writerId(2)]);
    writers.take(origin(1, 1, 5));
    expect(forgotten).toEqual([writerId(2), writerId(3)]);
    expect(writers.count).toBe(3);
    expect(shortOf(writers.take(origin(3, 1, 1)))).toBe("rows");
    expect(shortOf(writers.take(origin(2, 1, 2)))).toBe("gap"); // Its old number means nothing any more.
    expect(shortOf(writers.take(origin(1, 1, 2)))).toBe("rows!");
  });

  test("are kept by records that are skipped as well", () => {
    const writers = three();
    writers.take(origin(9, 1, 1));
    writers.take(origin(1, 1, 4));
    expect(forgotten).toEqual([writerId(2)]);
  });

  test("that are not known and begin behind a gap take no place", () => {
    const writers = three();
    writers.take(origin(2, 1, 4));
    expect({ forgotten, count: writers.count }).toEqual({ forgotten: [], count: 3 });
  });

  test("go on from a saved state, and forget the same ones", () => {
    const before = three();
    before.take(origin(2, 4, 1));
    const saved: MetaValue = JSON.parse(JSON.stringify(before.saved()));
    expect(saved).toEqual([
      [2, 1, 1],
      [3, 1, 1],
      [1, 2, 4],
    ]);
    const writers = Writers.restored(saved, "shard 5", (writer) => forgotten.push(writer), 3);
    expect(writers.saved()).toEqual(before.saved());
    expect(shortOf(writers.take(origin(3, 3, 1)))).toBe("older");
    expect(shortOf(writers.take(origin(3, 4, 1)))).toBe("rows");
    writers.take(origin(1, 1, 4));
    expect(forgotten).toEqual([writerId(2)]);
  });

  const BROKEN: readonly MetaValue[] = [
    null,
    {},
    [1],
    [[]],
    [[1, 1]],
    [[1, 1, 1, 1]],
    [[1, 1, 0]],
    [[1, 1.5, 1]],
    [["1", 1, 1]],
    [
      [1, 1, 1],
      [2, -1, 1],
    ],
  ];

  test("do not go on from what is no saved state", () => {
    const why = "cannot go on with the log of shard 5: what it says of the log's writers is broken";
    for (const saved of BROKEN) {
      const restore = (): unknown => Writers.restored(saved, "shard 5");
      expect(restore).toThrow(DbError);
      expect(restore).toThrow(why);
    }
    expect(Writers.restored([], "shard 5").count).toBe(0);
  });
});
