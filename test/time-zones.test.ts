/**
 * Everything that takes a time zone takes the same zones, and makes the same moment of what a clock there shows: offsets up to a day,
 * years 1 to 99 and before Christ, hours that a clock shows twice or never. Pipelines refuse the latter two by contract.
 */
import { describe, expect, test } from "bun:test";
import { DbError } from "../src/base/error.ts";
import { KNOBS } from "../src/config/knobs.ts";
import { parseVersion } from "../src/db/pipelines/version.ts";
import { compileTimeFormat } from "../src/ingest/pipeline/strftime.ts";
import { timeZoneOf } from "../src/ingest/pipeline/time-zone.ts";
import { STRING, TIMESTAMP_SECOND } from "../src/column/data-type.ts";
import { copyOptions } from "../src/query/copy/copy-options.ts";
import { timeWindow } from "../src/query/copy/time-window.ts";
import { TimePattern } from "../src/query/copy/time-pattern.ts";
import { formatTimestamp } from "../src/value/format-time.ts";
import { retypeScalar } from "../src/value/retype.ts";
import { startFixture } from "./support/http-fixture.ts";
import { QueryFixture } from "./support/query-fixture.ts";

const NANOS = 1_000_000_000n;
const shown = (seconds: bigint | undefined): string => (seconds === undefined ? "none" : `${formatTimestamp(seconds, "second")}Z`);
const ofNanos = (nanos: bigint | undefined): string => shown(nanos === undefined ? undefined : nanos / NANOS);

/** The one value that a query gives in a session of a zone, or "none" where it refuses. */
async function valueOf(zone: string, ...statements: readonly string[]): Promise<bigint | undefined> {
  const fixture = new QueryFixture();
  try {
    await fixture.sql(`SET time_zone = '${zone}'`);
    let value: unknown;
    for (const statement of statements) value = (await fixture.sql(statement)).rows[0]?.[0];
    return value === undefined ? undefined : BigInt(value as bigint);
  } catch (error) {
    if (error instanceof DbError) return undefined;
    throw error;
  }
}

const TABLE = "CREATE TABLE t (a STRING, at TIMESTAMP(0), ts TIMESTAMP(0) TIME INDEX)";

/** Who reads a text that names no zone as what a clock in a zone shows, to the second. */
const LOCAL: Readonly<Record<string, (text: string, zone: string) => Promise<string>>> = {
  "a value of INSERT": async (text, zone) =>
    shown(await valueOf(zone, TABLE, `INSERT INTO t (at, ts) VALUES ('${text}', 0)`, "SELECT at FROM t")),
  "a comparison": async (text, zone) =>
    shown(
      await valueOf(
        zone,
        TABLE,
        `INSERT INTO t (at, ts) VALUES ('${text}', 0)`,
        `SELECT at FROM t WHERE at = '${text}' AND at <= '${text}'`,
      ),
    ),
  "AT TIME ZONE": async (text, zone) => shown(await valueOf("UTC", `SELECT '${text}'::TIMESTAMP(0) AT TIME ZONE '${zone}'`)),
  "START_TIME of COPY": async (text, zone) => shown(timeWindow(copyOptions({ start_time: text }, "to"), "second", zone).start),
};

describe("what a clock shows is the same moment to all", () => {
  const cases: readonly (readonly [zone: string, text: string, moment: string])[] = [
    ["+14:00", "2024-01-01 00:00:00", "2023-12-31T10:00:00Z"],
    ["-14:00", "2024-01-01 00:00:00", "2024-01-01T14:00:00Z"],
    ["+23:59", "2024-01-01 00:00:00", "2023-12-31T00:01:00Z"],
    ["-23:59", "2024-01-01 00:00:00", "2024-01-01T23:59:00Z"],
    // A gap: the moment after the change at which the clock would show it. An overlap: the first of the two.
    ["Europe/Berlin", "2024-03-31 02:30:00", "2024-03-31T01:30:00Z"],
    ["Europe/Berlin", "2024-10-27 02:30:00", "2024-10-27T00:30:00Z"],
    ["America/Havana", "2024-03-10 00:30:00", "2024-03-10T05:30:00Z"],
    ["Pacific/Apia", "2011-12-30 12:00:00", "2011-12-30T22:00:00Z"],
    // Local mean time, 53 minutes and 28 seconds ahead in Berlin.
    ["Europe/Berlin", "0099-12-31 23:59:59", "0099-12-31T23:06:31Z"],
    ["Europe/Berlin", "0050-06-01 12:00:00", "0050-06-01T11:06:32Z"],
    ["Europe/Berlin", "0001-01-01 00:00:00", "0000-12-31T23:06:32Z"],
    ["Europe/Berlin", "0000-03-01 00:00:00", "0000-02-29T23:06:32Z"],
    ["Europe/Berlin", "-0400-03-01 00:00:00", "-0400-02-29T23:06:32Z"],
    ["-23:59", "-0001-12-31 23:59:00", "0000-01-01T23:58:00Z"],
  ];
  for (const [user, read] of Object.entries(LOCAL)) {
    test.each(cases)(`${user}: in %s %s is %s`, async (zone, text, moment) => {
      expect(await read(text, zone)).toBe(moment);
    });
  }
});

describe("formats and pipelines, whose times are nanoseconds", () => {
  const format = "%Y-%m-%d %H:%M:%S";
  const pipeline = (text: string, zone: string): string => ofNanos(compileTimeFormat(format)?.parse(text, timeZoneOf(zone))?.value);
  const sql = async (text: string, zone: string): Promise<string> =>
    ofNanos(await valueOf(zone, `SELECT to_timestamp('${text}', '${format}')`));

  test.each([
    ["+14:00", "2024-01-01 00:00:00", "2023-12-31T10:00:00Z"],
    ["-14:00", "2024-01-01 00:00:00", "2024-01-01T14:00:00Z"],
    ["+23:59", "2024-01-01 00:00:00", "2023-12-31T00:01:00Z"],
    ["-23:59", "2024-01-01 00:00:00", "2024-01-01T23:59:00Z"],
    ["Europe/Berlin", "2024-07-01 12:00:00", "2024-07-01T10:00:00Z"],
    ["Europe/Berlin", "1893-03-31 12:00:00", "1893-03-31T11:06:32Z"],
  ])("in %s %s is %s to both", async (zone, text, moment) => {
    expect([await sql(text, zone), pipeline(text, zone)]).toEqual([moment, moment]);
  });

  test.each([
    ["a gap", "2024-03-31 02:30:00", "2024-03-31T01:30:00Z"],
    ["an overlap", "2024-10-27 02:30:00", "2024-10-27T00:30:00Z"],
  ])("in %s SQL takes one moment, pipelines none", async (_, text, moment) => {
    expect([await sql(text, "Europe/Berlin"), pipeline(text, "Europe/Berlin")]).toEqual([moment, "none"]);
  });

  test("years that 64 bits of nanoseconds do not reach are no times, not others", async () => {
    for (const text of ["0050-06-01 12:00:00", "-0400-03-01 00:00:00"])
      expect([await sql(text, "Europe/Berlin"), pipeline(text, "Europe/Berlin")]).toEqual(["none", "none"]);
  });
});

/** Who reads an offset behind a time. */
const OFFSETS: Readonly<Record<string, (offset: string) => string | Promise<string>>> = {
  CAST: async (offset) => shown(await valueOf("Europe/Berlin", `SELECT '2024-01-01 00:00:00${offset}'::TIMESTAMP(0)`)),
  "a value of INSERT": async (offset) =>
    shown(await valueOf("UTC", TABLE, `INSERT INTO t (at, ts) VALUES ('2024-01-01 00:00:00${offset}', 0)`, "SELECT at FROM t")),
  "a column whose type was changed": (offset) =>
    shown(retypeScalar(`2024-01-01 00:00:00${offset}`, STRING, TIMESTAMP_SECOND) as bigint | undefined),
  "START_TIME of COPY": (offset) => {
    const options = copyOptions({ start_time: `2024-01-01 00:00:00${offset}` }, "to");
    return caught(() => shown(timeWindow(options, "second", "UTC").start));
  },
  "TIMESTAMP_FORMAT of COPY": (offset) => {
    const pattern = TimePattern.of("%F %T%:z", "read");
    if (typeof pattern === "string") throw new Error(pattern);
    return ofNanos(pattern.parse(`2024-01-01 00:00:00${offset}`));
  },
  "to_timestamp with a format": async (offset) =>
    ofNanos(await valueOf("UTC", `SELECT to_timestamp('2024-01-01 00:00:00${offset}', '%F %T%:z')`)),
  "a pipeline's date": (offset) =>
    ofNanos(compileTimeFormat("%F %T%:z")?.parse(`2024-01-01 00:00:00${offset}`, timeZoneOf("Europe/Berlin"))?.value),
  "a pipeline's version": (offset) => caught(() => ofNanos(parseVersion(`2024-01-01 00:00:00${offset}`))),
};

function caught(read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (error instanceof DbError) return "none";
    throw error;
  }
}

describe("offsets behind a time", () => {
  const cases = [
    ["+14:00", "2023-12-31T10:00:00Z"],
    ["-14:00", "2024-01-01T14:00:00Z"],
    ["+23:59", "2023-12-31T00:01:00Z"],
    ["-23:59", "2024-01-01T23:59:00Z"],
    ["-00:00", "2024-01-01T00:00:00Z"],
    ["+24:00", "none"],
    ["-24:00", "none"],
    ["+10:60", "none"],
  ] as const;
  for (const [user, read] of Object.entries(OFFSETS)) {
    test.each(cases)(`${user}: %s is %s`, async (offset, moment) => {
      expect(await read(offset)).toBe(moment);
    });
  }
});

/** Who shows a moment as a clock in a zone does. */
const SHOWING: Readonly<Record<string, (moment: string, zone: string) => Promise<string>>> = {
  "AT TIME ZONE, twice": async (moment, zone) =>
    shown(await valueOf("UTC", `SELECT '${moment}'::TIMESTAMP(0) AT TIME ZONE 'UTC' AT TIME ZONE '${zone}'`)),
  "date_trunc, as the moment when its minute begins": async (moment, zone) => {
    const start = await valueOf("UTC", `SELECT date_trunc('minute', '${moment}'::TIMESTAMP(0), '${zone}')`);
    return shown(await valueOf("UTC", `SELECT CAST(${start} AS TIMESTAMP(0)) AT TIME ZONE 'UTC' AT TIME ZONE '${zone}'`));
  },
  date_format: async (moment, zone) => {
    const fixture = new QueryFixture();
    await fixture.sql(`SET time_zone = '${zone}'`);
    return String((await fixture.sql(`SELECT date_format('${moment}'::TIMESTAMP(0), '%Y-%m-%dT%H:%M:%SZ')`)).rows[0]?.[0]);
  },
};

describe("a moment is shown alike", () => {
  const cases: readonly (readonly [zone: string, moment: string, clock: string])[] = [
    ["+14:00", "2023-12-31T10:00:00Z", "2024-01-01T00:00:00Z"],
    ["-14:00", "2024-01-01T14:00:00Z", "2024-01-01T00:00:00Z"],
    ["+23:59", "2023-12-31T00:01:00Z", "2024-01-01T00:00:00Z"],
    ["-23:59", "2024-01-01T23:59:00Z", "2024-01-01T00:00:00Z"],
    ["Europe/Berlin", "2024-03-31T00:59:00Z", "2024-03-31T01:59:00Z"],
    ["Europe/Berlin", "2024-03-31T01:00:00Z", "2024-03-31T03:00:00Z"],
    ["Europe/Berlin", "2024-10-27T00:30:00Z", "2024-10-27T02:30:00Z"],
    ["Europe/Berlin", "2024-10-27T01:30:00Z", "2024-10-27T02:30:00Z"],
    ["Europe/Berlin", "0099-12-31T23:06:32Z", "0100-01-01T00:00:00Z"],
    ["Europe/Berlin", "0050-06-01T11:06:32Z", "0050-06-01T12:00:00Z"],
    ["Europe/Berlin", "0000-12-31T23:06:32Z", "0001-01-01T00:00:00Z"],
    ["Europe/Berlin", "-0400-02-29T23:06:32Z", "-0400-03-01T00:00:00Z"],
  ];
  for (const [user, show] of Object.entries(SHOWING)) {
    test.each(cases)(`${user}: in %s %s is %s`, async (zone, moment, clock) => {
      expect(await show(moment, zone)).toBe(clock);
    });
  }
});

/** Who takes the name of a zone: what is made of it, or "refused". */
const NAMED: Readonly<Record<string, (zone: string) => Promise<string>>> = {
  "SET time_zone": async (zone) => {
    const fixture = new QueryFixture();
    return refusedOr(async () => {
      await fixture.sql(`SET time_zone = '${zone}'`);
      return String((await fixture.sql("SHOW VARIABLES time_zone")).rows[0]?.[0]);
    });
  },
  "the header of HTTP": async (zone) => {
    const { db, server, url } = await startFixture();
    try {
      const response = await fetch(`${url}/v1/sql?sql=x`, { headers: { "x-greptime-timezone": zone } });
      return response.status === 400 ? "refused" : (db.sessions.at(-1)?.timeZone ?? "no session");
    } finally {
      await server.stop(0);
    }
  },
  "AT TIME ZONE": (zone) => taken(zone, (name) => `SELECT '2024-01-01'::TIMESTAMP AT TIME ZONE '${name}'`),
  date_trunc: (zone) => taken(zone, (name) => `SELECT date_trunc('day', '2024-01-01'::TIMESTAMP, '${name}')`),
  "a pipeline": (zone) =>
    refusedOr(async () => {
      timeZoneOf(zone);
      return "taken";
    }),
};

async function refusedOr(run: () => Promise<string>): Promise<string> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof DbError) return "refused";
    throw error;
  }
}

function taken(zone: string, statement: (zone: string) => string): Promise<string> {
  return refusedOr(async () => {
    await new QueryFixture().sql(statement(zone));
    return "taken";
  });
}

describe("names of zones", () => {
  const cases = [
    ["utc", "UTC"],
    ["Etc/UTC", "UTC"],
    ["asia/shanghai", "Asia/Shanghai"],
    ["+8:00", "+08:00"],
    ["+14:00", "+14:00"],
    ["-14:00", "-14:00"],
    ["+23:59", "+23:59"],
    ["-23:59", "-23:59"],
    ["+24:00", "refused"],
    ["-24:00", "refused"],
    ["+1:60", "refused"],
    ["+08", "refused"],
    ["Mars/Olympus", "refused"],
  ] as const;
  for (const [user, name] of Object.entries(NAMED)) {
    test.each(cases)(`${user}: %s is %s`, async (zone, want) => {
      expect([await name(zone)]).toEqual([
        want === "refused" || user === "SET time_zone" || user === "the header of HTTP" ? want : "taken",
      ]);
    });
  }

  test("the zone of the configuration is one of the machine's: no offsets, and the same names", () => {
    const { kind } = KNOBS.general.defaultTimezone;
    expect(["Europe/Berlin", "asia/shanghai", "SYSTEM"].map((zone) => kind.fromText(zone).ok)).toEqual([true, true, true]);
    expect(["+01:00", "Mars/Olympus", ""].map((zone) => kind.fromText(zone).ok)).toEqual([false, false, false]);
  });
});
