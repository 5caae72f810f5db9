import { describe, expect, test } from "bun:test";
import { compileLinearRegex, compileReplacement, type Regex } from "./linear-regex.ts";

function compiled(pattern: string): Regex {
  const regex = compileLinearRegex(pattern);
  if (!regex.ok) throw new Error(regex.reason);
  return regex.value;
}

describe("a regular expression", () => {
  test("finds, splits and replaces", () => {
    expect(compiled("b+").test("abbc")).toBe(true);
    expect(compiled("x*").replaceAll("abxc", () => "-")).toBe("-a-b-c-");
    expect(compiled("(a)(x)?").first("ba")).toEqual(["a", "a", undefined]);
    expect(compiled(",").split("a,b,")).toEqual(["a", "b", ""]);
    const regex = compiled("(?P<n>\\d)(\\d)");
    expect(regex.replaceAll("12 34", compileReplacement("$2${n}$$$x", regex))).toBe("21$ 43$");
    expect(regex.replaceAll("12 34", () => "_", 1)).toBe("_ 34");
  });
  test("reads flags", () => {
    expect(compileLinearRegex("^B.$", { insensitive: true, dotAll: true, multiline: true })).toMatchObject({ ok: true });
    const regex = compileLinearRegex("^b.c$", { insensitive: true, dotAll: true, multiline: true });
    expect(regex.ok && regex.value.test("a\nB\nC\nd")).toBe(true);
  });
  test("takes no longer on texts made against it", () => {
    const regex = compiled("(a+)+$");
    expect(regex.test(`${"a".repeat(20_000)}b`)).toBe(false);
  });
  test("is refused with a reason", () => {
    expect(compileLinearRegex("(a")).toMatchObject({ ok: false });
    expect(compileLinearRegex("(?=a)")).toMatchObject({ ok: false });
    expect(compileLinearRegex("(a{500}){30}")).toMatchObject({ ok: false });
    expect(compileLinearRegex("[a-c\\pL]{900}x?[a-c\\pN]{900}(abcdefghijkl){300}")).toEqual({
      ok: false,
      reason: "it makes more than 5000 instructions",
    });
  });
});
