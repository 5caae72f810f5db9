import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { checkExpression as check, checkOverRows, failsExpression as fails } from "../../../../test/support/expression-check.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import { truncBuckets } from "../time/buckets.ts";
import { floorDivide } from "../../../value/civil.ts";
import { localTimeOf, truncatedInZone } from "../time/zone-buckets.ts";

const at = (text: string): string => `'${text}'::TIMESTAMP`;
const shown = (call: string, want: string): Promise<void> => check(`(${call})::STRING`, want);

describe("date_trunc with a zone", () => {
  test("cuts days, months and years of the zone's own clock", async () => {
    const zone = "'Europe/Berlin'";
    await shown(`date_trunc('day', ${at("2024-03-31T12:00:00Z")}, ${zone})`, "2024-03-30T23:00:00");
    await shown(`date_trunc('day', ${at("2024-03-31T22:00:00Z")}, ${zone})`, "2024-03-31T22:00:00");
    await shown(`date_trunc('week', ${at("2024-04-03T12:00:00Z")}, ${zone})`, "2024-03-31T22:00:00");
    await shown(`date_trunc('month', ${at("2024-03-31T12:00:00Z")}, ${zone})`, "2024-02-29T23:00:00");
    await shown(`date_trunc('year', ${at("2024-07-31T12:00:00Z")}, ${zone})`, "2023-12-31T23:00:00");
    await shown(`date_trunc('day', '2024-07-31'::DATE, '+05:30')`, "2024-07-30T18:30:00");
    await check(`date_trunc('day', ${at("2024-03-31T12:00:00Z")}, NULL)`, undefined);
  });
  test("keeps the two hours apart that a clock shows twice, and hours of zones at half past", async () => {
    await shown(`date_trunc('hour', ${at("2024-10-27T00:30:00Z")}, 'Europe/Berlin')`, "2024-10-27T00:00:00");
    await shown(`date_trunc('hour', ${at("2024-10-27T01:30:00Z")}, 'Europe/Berlin')`, "2024-10-27T01:00:00");
    await shown(`date_trunc('hour', ${at("2024-10-27T01:40:00Z")}, 'Asia/Kolkata')`, "2024-10-27T01:30:00");
  });
  test("begins no bucket after its times, and no two of one local day", () => {
    const zones = fc.constantFrom("Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kolkata", "-03:30");
    const seconds = fc.integer({ min: -2_000_000_000, max: 2_000_000_000 });
    fc.assert(
      fc.property(zones, seconds, fc.constantFrom("hour", "day", "week", "month"), (zone, second, precision) => {
        const buckets = truncBuckets(precision, "second");
        if (buckets === undefined) throw new Error("a precision");
        const start = truncatedInZone(buckets, BigInt(second), zone);
        expect(start <= BigInt(second)).toBe(true);
        expect(truncatedInZone(buckets, start, zone)).toBe(start);
        const day = (time: bigint): bigint => floorDivide(localTimeOf(time, "second", zone), 86_400n);
        if (precision === "day") expect(day(start)).toBe(day(BigInt(second)));
      }),
      { seed: 7, numRuns: 300 },
    );
  });
  test("refuses what is no zone, and zones of times of day", async () => {
    await fails("date_trunc('day', now(), 'Mars/Olympus')", "1004 Invalid timezone string Mars/Olympus");
    await fails("date_trunc('hour', make_time(1, 2, 3), 'UTC')", "3000 Failed to plan SQL");
  });
});

test("date_bin with a zone counts days and months from what its clock shows, hours from a moment", async () => {
  const bin = (stride: string, time: string, origin: string): string =>
    `date_bin(INTERVAL '${stride}', ${at(time)}, '${origin}', 'Europe/Berlin')`;
  await shown(bin("1 day", "2024-03-31T12:00:00Z", "1970-01-01"), "2024-03-30T23:00:00");
  await shown(bin("1 day", "2024-03-31T12:00:00Z", "1970-01-01 06:00:00"), "2024-03-31T04:00:00");
  await shown(bin("3 months", "2024-05-31T12:00:00Z", "1970-01-01"), "2024-03-31T22:00:00");
  await shown(bin("12 hours", "2024-03-31T12:00:00Z", "2024-03-30"), "2024-03-31T11:00:00");
  await fails("date_bin(INTERVAL '1 day', now(), '1970-01-01', 'nowhere')", "1004 Invalid timezone string nowhere");
});

describe("time_bucket", () => {
  test("begins weeks on Mondays and months on the first", async () => {
    await shown(`time_bucket('1 week', ${at("2024-03-31T12:00:00Z")})`, "2024-03-25T00:00:00");
    await shown(`time_bucket(INTERVAL '1 month', ${at("2024-03-31T12:00:00Z")})`, "2024-03-01T00:00:00");
    await shown(`time_bucket('5 minutes', ${at("2024-03-31T12:04:59Z")})`, "2024-03-31T12:00:00");
    await check(`time_bucket('5 minutes', NULL)`, undefined);
  });
  test("takes an offset, an origin, a zone, or a zone and an origin", async () => {
    const time = at("2024-03-31T12:00:00Z");
    await shown(`time_bucket('1 day', ${time}, INTERVAL '6 hours')`, "2024-03-31T06:00:00");
    await shown(`time_bucket('1 day', ${time}, '2020-01-01 15:00:00')`, "2024-03-30T15:00:00");
    await shown(`time_bucket('1 day', ${time}, ${at("2020-01-01T15:00:00Z")})`, "2024-03-30T15:00:00");
    await shown(`time_bucket('1 day', ${time}, 'Europe/Berlin')`, "2024-03-30T23:00:00");
    await shown(`time_bucket('6 hours', ${time}, 'Europe/Berlin', '2020-01-01 03:00:00')`, "2024-03-31T08:00:00");
    await fails(`time_bucket('1 day', ${time}, 'Mars')`, "1004 time_bucket: 'Mars' is neither a time zone nor a time");
    await fails(`time_bucket('0 day', ${time})`, "3001 cannot bin by this interval");
  });
  test("groups a table's time as date_bin does", async () => {
    const fixture = new QueryFixture();
    await fixture.sql("CREATE TABLE m (ts TIMESTAMP TIME INDEX, h STRING PRIMARY KEY, v INT)");
    await fixture.sql(`INSERT INTO m VALUES ${Array.from({ length: 500 }, (_, i) => `(${i * 7_777_777}, 'h${i % 3}', ${i})`).join(", ")}`);
    for (const [bucket, bin] of [
      ["time_bucket('1 hour', ts)", "date_trunc('hour', ts)"],
      ["time_bucket('1 week', ts)", "date_trunc('week', ts)"],
      ["time_bucket('3 months', ts)", "date_trunc('quarter', ts)"],
      ["time_bucket('1 day', ts, 'UTC')", "date_trunc('day', ts)"],
    ] as const) {
      const of = async (key: string): Promise<unknown> =>
        (await fixture.both(`SELECT ${key} AS k, h, sum(v) FROM m GROUP BY k, h ORDER BY k, h`)).rows;
      expect(await of(bucket)).toEqual(await of(bin));
    }
  });
});

test("width_bucket numbers buckets from 1, with one before and one behind", async () => {
  await checkOverRows("width_bucket(v, 0, 10, 5)", ["-1", "0", "5.3", "9.999", "10", "NULL"], [0, 1, 3, 5, 6, undefined]);
  await checkOverRows("width_bucket(v, 10, 0, 5)", ["11", "10", "3", "0.001", "0"], [0, 1, 4, 5, 6]);
  await check("width_bucket(NULL, 0, 1, 1)", undefined, "Int32");
  await fails("width_bucket(1, 1, 1, 1)", "3001 cannot find the bucket of 1: the bounds must differ");
  await fails("width_bucket(1, 0, 1, 0)", "the count must be 1 to");
  await fails("width_bucket('NaN'::DOUBLE, 0, 1, 1)", "it is no number");
});
