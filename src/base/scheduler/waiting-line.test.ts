import { expect, test } from "bun:test";
import { WaitingLine } from "./waiting-line.ts";

test("the first of a line is woken, whoever left before it", () => {
  const line = new WaitingLine();
  const woken: string[] = [];
  const waiter = (name: string): { wake: () => void } => ({ wake: () => void woken.push(name) });
  const [a, b, c] = [waiter("a"), waiter("b"), waiter("c")];
  line.wakeFirst();
  for (const each of [a, b, c]) line.join(each);
  expect([line.length, line.isFirst(a), line.isFirst(b)]).toEqual([3, true, false]);
  line.leave(b);
  line.wakeFirst();
  line.leave(a);
  line.wakeFirst();
  expect(woken).toEqual(["a", "c"]);
  expect(line.isFirst(c)).toBe(true);
  line.leave(c);
  expect([line.length, line.isFirst(c)]).toEqual([0, false]);
});
