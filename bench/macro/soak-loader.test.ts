import { expect, test } from "bun:test";
import { stamp, templateOf } from "./soak-loader.ts";

test("a template's rows get the time of the send and six digits of their own", () => {
  const text = "a v=1i 1686441600000000000\nb,t=x v=2i 1686441600000000000\n";
  const template = templateOf(new TextEncoder().encode(text), 999_999);
  stamp(template, 1_700_000_000_123);
  expect(new TextDecoder().decode(template.bytes)).toBe("a v=1i 1700000000123999999\nb,t=x v=2i 1700000000123000000\n");
});
