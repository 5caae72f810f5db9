import { expect, test } from "bun:test";
import { DbError } from "../../../base/error.ts";
import { durationOf, momentOf } from "./moments.ts";

function check(read: (text: string, parameter: string) => number, cases: Readonly<Record<string, number | undefined>>): void {
  for (const [text, want] of Object.entries(cases)) {
    let got: number | undefined;
    try {
      got = read(text, "p");
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      expect(error.message).toStartWith('invalid parameter "p": cannot parse "');
    }
    expect([text, got]).toEqual([text, want]);
  }
}

test("times", () => {
  check(momentOf, {
    "0": 0,
    "1435781451.781": 1_435_781_451_781,
    "-1.5": -1500,
    "1e3": 1_000_000,
    "2015-07-01T20:10:51.781Z": 1_435_781_451_781,
    "2015-07-01T22:10:51+02:00": 1_435_781_451_000,
    "1969-12-31T23:59:59.9999Z": -1,
    "": undefined,
    now: undefined,
    NaN: undefined,
    Inf: undefined,
    "1e300": undefined,
    "2015-07-01": undefined,
    "2015-07-01T20:10:51": undefined,
    "2015-02-30T00:00:00Z": undefined,
  });
});

test("durations", () => {
  check(durationOf, {
    "0": 0,
    "5": 5000,
    "0.5": 500,
    "1m30s": 90_000,
    "1y2w3d4h5m6s7ms": 31_536_000_000 + 2 * 604_800_000 + 3 * 86_400_000 + 4 * 3_600_000 + 306_007,
    "-1h": -3_600_000,
    "1e2": 100_000,
    "": undefined,
    "-": undefined,
    "1.5h": undefined,
    "5s1m": undefined,
    NaN: undefined,
    "1e300": undefined,
    "300000y": undefined,
  });
});
