import { expect, test } from "bun:test";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import { Reloads } from "./reloads.ts";

test("says what was read and what stays, also when one throws", async () => {
  const { logger, entries } = recordingLogger();
  const reloads = new Reloads(logger);
  await reloads.run();
  reloads.add("accounts", () => true);
  await reloads.run();
  reloads.add("a certificate", () => Promise.resolve(false));
  reloads.add("a bug", () => Promise.reject(new Error("why")));
  await reloads.run();
  expect(entries.map(({ message }) => message)).toEqual([
    "reloaded",
    "reloaded",
    "cannot reload a part: what it has stays in force",
    "reloaded in part: what was in force before stays for the others",
  ]);
  expect(entries.at(-1)?.fields).toEqual({ read: ["accounts"], kept: ["a certificate", "a bug"] });
});

test("one round at a time; who asks meanwhile gets one more", async () => {
  const { logger } = recordingLogger();
  const reloads = new Reloads(logger);
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let begun = 0;
  reloads.add("slow", async () => {
    await gates[begun++]?.promise;
    return true;
  });
  const first = reloads.run();
  await Bun.sleep(0);
  const others = [reloads.run(), reloads.run(), reloads.run()];
  expect(begun).toBe(1);
  gates[0]?.resolve();
  await first;
  gates[1]?.resolve();
  await Promise.all(others);
  expect(begun).toBe(2);
});
