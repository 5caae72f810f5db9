import { expect, test } from "bun:test";
import { RootLog } from "./log.ts";

function capture(): { readonly log: RootLog; readonly lines: string[] } {
  const lines: string[] = [];
  return { log: new RootLog({ level: "info", targets: new Map() }, (line) => void lines.push(line)), lines };
}

test("a line is one JSON object with target, level, fields and message", () => {
  const { log, lines } = capture();
  log.logger("wal").warn({ segment: 3 }, "cannot sync");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "warn", target: "wal", segment: 3, msg: "cannot sync" });
});

test("levels below the filter are dropped, and the filter can change", () => {
  const { log, lines } = capture();
  const logger = log.logger("engine");
  logger.debug({}, "one");
  log.setFilter({ level: "debug", targets: new Map() });
  logger.debug({}, "two");
  log.setFilter({ level: "off", targets: new Map() });
  logger.error({}, "three");
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(["two"]);
});

test("a target's own level wins, and covers what is below the target", () => {
  const { log, lines } = capture();
  log.setFilter({ level: "error", targets: new Map([["engine", "debug"]]) });
  log.logger("engine").debug({}, "one");
  log.logger("engine::flush").debug({}, "two");
  log.logger("engineer").debug({}, "three");
  log.logger("http").warn({}, "four");
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(["one", "two"]);
});

test("a child has the name of its parent in its own", () => {
  const { log, lines } = capture();
  log.logger("engine").child("flush").info({}, "one");
  expect(JSON.parse(lines[0] ?? "").target).toBe("engine::flush");
});
