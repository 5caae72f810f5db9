import { expect, test } from "bun:test";
import { Turns } from "./turns.ts";

test("work runs in the order in which it was asked for, one piece at a time", async () => {
  const turns = new Turns();
  const seen: string[] = [];
  const piece = (name: string, millis: number) => async (): Promise<string> => {
    seen.push(`begin ${name}`);
    await Bun.sleep(millis);
    seen.push(`end ${name}`);
    return name;
  };
  expect(await Promise.all([turns.alone(piece("a", 3)), turns.alone(piece("b", 0)), turns.alone(piece("c", 1))])).toEqual(["a", "b", "c"]);
  expect(seen).toEqual(["begin a", "end a", "begin b", "end b", "begin c", "end c"]);
});

test("a failure is its caller's alone: the next piece runs", async () => {
  const turns = new Turns();
  const failed = turns.alone(() => Promise.reject(new Error("broken")));
  const next = turns.alone(async () => "fine");
  expect(await failed.catch((error: Error) => error.message)).toBe("broken");
  expect(await next).toBe("fine");
});
