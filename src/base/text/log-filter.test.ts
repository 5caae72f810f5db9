import { expect, test } from "bun:test";
import { DbError } from "../error.ts";
import { parseLogFilter, printLogFilter } from "./log-filter.ts";
import { StatusCode } from "../status-code.ts";

function check(text: string, want: string): void {
  expect(printLogFilter(parseLogFilter(text))).toBe(want);
}

function checkRefused(text: string, want: string): void {
  try {
    parseLogFilter(text);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(DbError);
    expect(thrown).toMatchObject({ code: StatusCode.InvalidArguments, message: expect.stringContaining(want) });
    return;
  }
  throw new Error(`accepted ${text}`);
}

test("prints the longest target first and the level last", () => {
  check("info", "info");
  check("trace,flow=debug", "flow=debug,trace");
  check("wal=warn,compaction=error,debug", "compaction=error,wal=warn,debug");
  check("a=info,b=info", "b=info,a=info");
  check("mito2::worker=Debug, INFO", "mito2::worker=debug,info");
});

test("reads digits as levels and a bare word as a target at trace", () => {
  check("0", "off");
  check("5", "trace");
  check("3,wal=4", "wal=debug,info");
  check("wal", "wal=trace");
  check("info,wal", "wal=trace,info");
});

test("turns the rest off when no level is named, and lets the last directive win", () => {
  expect(parseLogFilter("wal=debug")).toEqual({ level: "off", targets: new Map([["wal", "debug"]]) });
  check("wal=debug", "wal=debug");
  check("off,wal=debug", "wal=debug");
  check("warn,info,wal=info,wal=error", "wal=error,info");
  check(" debug\n", "debug");
});

test("refuses a bad filter and quotes it", () => {
  checkRefused("", 'Invalid filter "": a directive is empty');
  checkRefused("info,", "a directive is empty");
  checkRefused("a=b=c", 'Invalid filter "a=b=c": too many "="');
  checkRefused("x=notalevel", 'unknown level "notalevel"');
  checkRefused("x=", 'unknown level ""');
  checkRefused("=info", "a directive is empty");
  checkRefused("6", "neither a level nor a target");
  checkRefused("a b", "neither a level nor a target");
  checkRefused("wal[x]=info", "neither a level nor a target");
  checkRefused(`${"a".repeat(5000)}`, "longer than");
});
