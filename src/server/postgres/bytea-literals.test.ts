import { expect, test } from "bun:test";
import { atOnce } from "../../base/scheduler/pace.ts";
import { withHexLiterals } from "./bytea-literals.ts";

function check(text: string, want: string = text): void {
  expect(atOnce(withHexLiterals(text))).toBe(want);
  expect(want).toHaveLength(text.length);
}

test("bytes that a driver wrote are a literal of as many characters", () => {
  check("SELECT '\\x'::bytea, 1", "SELECT X''        , 1");
  check("VALUES ('\\x00fF'::BYTEA)", "VALUES (X'00fF'        )");
  check("SELECT 'it''s', \"a\", '\\x61'::bytea -- '\\x61'::bytea", "SELECT 'it''s', \"a\", X'61'         -- '\\x61'::bytea");
});

test("what is something else stays", () => {
  check("SELECT '\\x61', '\\x6'::bytea, '\\xzz'::bytea, '\\x61'::text, '\\x61'::bytea[], '\\x61'::byteas");
  check("SELECT E'\\x61'::bytea, e'a\\'\\x61'::bytea, '''\\x61'::bytea, \"'\\x61'::bytea\", $$'\\x61'::bytea$$");
  check("SELECT '\\x61");
});
