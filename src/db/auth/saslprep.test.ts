import { expect, test } from "bun:test";
import { saslprep } from "./saslprep.ts";

function check(text: string, want: string): void {
  expect(saslprep(text)).toBe(want);
}

test("leaves ASCII alone", () => {
  check("user", "user");
  check("USER 1!", "USER 1!");
  check("", "");
});

test("drops what is invisible, maps blanks, and composes", () => {
  check("I\u00adX", "IX");
  check("a\u00a0b\u3000c", "a b c");
  check("\u00aa", "a");
  check("\u2168", "IX");
  check("e\u0301", "\u00e9");
  check("\ufb01", "fi");
});

test("uses the text as it is when it holds what must not occur", () => {
  check("\u0007\u2168", "\u0007\u2168");
  check("\ue000\u2168", "\ue000\u2168");
  check("\u200e\u2168", "\u200e\u2168");
});

test("uses the text as it is when it mixes directions", () => {
  check("\u06271\u2168", "\u06271\u2168");
  check("\u0627a\u0628\u2168", "\u0627a\u0628\u2168");
  check("\u06271\u00ad\u0628", "\u06271\u0628");
});
