import { expect, test } from "bun:test";
import { contentLengthOf } from "./content-length.ts";

const of = (value: string): ReturnType<typeof contentLengthOf> => contentLengthOf(new Headers({ "content-length": value }));

test("a length, or several equal ones", () => {
  expect(contentLengthOf(new Headers())).toBeUndefined();
  expect([of("0"), of("5"), of("005"), of("5, 5"), of("5,5 , 5")]).toEqual([0, 5, 5, 5, 5]);
});

test.each(["", ",", ",5", "+5", "-5", "0x5", "5e0", "5.0", "5 5", "NaN", "Infinity", "18446744073709551621", "9".repeat(1000)])(
  "%p is no length",
  (value) => expect(of(value)).toEqual({ flaw: "it is no whole number of bytes" }),
);

test("different lengths are none, and so are too many", () => {
  expect(of("5, 6")).toEqual({ flaw: "it was sent with different values" });
  expect(of("5,")).toEqual({ flaw: "it was sent with different values" });
  expect(of("5, 5, x")).toEqual({ flaw: "it was sent with different values" });
  expect(of(Array.from({ length: 10_000 }, () => "5").join(","))).toEqual({ flaw: "it was sent too often" });
});
