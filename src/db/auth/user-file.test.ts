import { expect, test } from "bun:test";
import { parseUserFile } from "./user-file.ts";

/** Checks the accounts of a file as `name:mode`, and the numbers of its malformed lines. */
function check(text: string | Uint8Array, accounts: readonly string[], malformed: readonly number[] = [], brokenAt?: number): void {
  const file = parseUserFile(typeof text === "string" ? new TextEncoder().encode(text) : text);
  const names = file.accounts.map((account) => `${account.name}:${account.mode}`);
  expect<unknown>({ ...file, accounts: names }).toEqual({ accounts, malformed, brokenAt });
}

test("reads one account a line and skips blanks and comments", () => {
  check("alice=a\nbob=b", ["alice:rw", "bob:rw"]);
  check("  alice=a  \r\n\r\n# bob=b\n\n  # x\ncarol=c\n", ["alice:rw", "carol:rw"]);
  check("\ufeffalice=a", ["alice:rw"]);
  check("", []);
});

test("reads every spelling of the modes", () => {
  check("a:rw=x\na:ReadWrite=x\na:read_write=x", ["a:rw", "a:rw", "a:rw"]);
  check("a:ro=x\na:READONLY=x\na:read_only=x", ["a:ro", "a:ro", "a:ro"]);
  check("a:wo=x\na:writeonly=x\na:Write_Only=x", ["a:wo", "a:wo", "a:wo"]);
});

test("keeps blanks in names, and names and passwords that can never log in", () => {
  check("alice b =x", ["alice b :rw"]);
  check("=x\nalice=", [":rw", "alice:rw"]);
});

test("skips malformed lines and reads on", () => {
  check("alice\nbob=b=b\ncarol:=c\ndave:xx=d\nerin:ro:rw=e\nfred=pbkdf2_sha256:x\ngina=g", ["gina:rw"], [1, 2, 3, 4, 5, 6]);
});

test("ends at a line that is not UTF-8", () => {
  check(Buffer.from("alice=a\nbob=\xff\ncarol=c", "latin1"), ["alice:rw"], [], 2);
});
