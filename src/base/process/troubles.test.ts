import { expect, test } from "bun:test";
import { fixedClock } from "../clock.ts";
import type { Logger } from "../log.ts";
import { Troubles } from "./troubles.ts";

function make(): { readonly troubles: Troubles; readonly lines: string[]; readonly clock: ReturnType<typeof fixedClock> } {
  const lines: string[] = [];
  const say =
    (level: string) =>
    (fields: Readonly<Record<string, unknown>>, message: string): void =>
      void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const logger: Logger = { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error"), child: () => logger };
  const clock = fixedClock(0n);
  return { troubles: new Troubles(logger, clock), lines, clock };
}

test("a trouble is logged once when it begins and once when it is over", () => {
  const { troubles, lines, clock } = make();
  troubles.works("flush");
  troubles.failed("flush", "no space", { table: "cpu" });
  for (let i = 0; i < 100; i++) troubles.failed("flush", "still no space");
  clock.set(2_000_000_000n);
  troubles.works("flush");
  troubles.works("flush");
  expect(lines).toEqual([
    'error flushing to data files: in trouble; tried again until it works {"table":"cpu","reason":"no space"}',
    'info flushing to data files: works again {"reason":"still no space","millis":2000}',
  ]);
  expect(troubles.failures.flush).toBe(101);
});

test("the list shows what does not work now, with the last reason and the first time", () => {
  const { troubles, clock } = make();
  clock.set(1_000_000_000n);
  troubles.failed("metadata", "full");
  troubles.failed("flush", "first");
  clock.set(3_000_000_000n);
  troubles.failed("flush", "second");
  expect(troubles.list()).toEqual([
    { part: "flush", reason: "second", sinceMillis: 1000 },
    { part: "metadata", reason: "full", sinceMillis: 1000 },
  ]);
  troubles.works("flush");
  expect(troubles.has("flush")).toBe(false);
  expect(troubles.list().map(({ part }) => part)).toEqual(["metadata"]);
});
