import { expect, test } from "bun:test";
import { DbError } from "../../../base/error.ts";
import { parseSql } from "../parse.ts";
import { maskSecrets, maskSyntaxError } from "./secret-text.ts";

function masked(message: string, text: string): string {
  const steps = maskSyntaxError(message, text);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value ?? message;
  }
}

test.each([
  ["CONNECTION (secret_access_key = 'it''s hush', region='eu')", "CONNECTION (secret_access_key = '***', region='eu')"],
  ["CONNECTION (secret_access_key /* a */ =\n 'hush')", "CONNECTION (secret_access_key /* a */ =\n '***')"],
  ["(session_token = E'hush')", "(session_token = '***')"],
  ['("SESSION_TOKEN"="hush', "(\"SESSION_TOKEN\"='***'"],
  ["(passwd = hush, api_key=hush)", "(passwd = '***', api_key='***')"],
  ["CREATE USER a IDENTIFIED BY 'hush'", "CREATE USER a IDENTIFIED BY '***'"],
  ["ALTER USER a PASSWORD 'hush'", "ALTER USER a PASSWORD '***'"],
  ["(endpoint = 'http://me:hush@host:9000')", "(endpoint = 'http://***@host:9000')"],
  ["SELECT 'token', a = 'x' FROM t", "SELECT 'token', a = 'x' FROM t"],
])("%s", (text, want) => {
  expect(maskSecrets(text)).toBe(want);
});

test("errors of a text with secrets quote nothing of it", () => {
  for (const text of [
    "COPY t TO 's3://b/x' CONNECTION (secret_access_key 'hush')",
    "COPY t TO 's3://b/x' CONNECTION (secret_access_key = 'a' 'hush')",
    "COPY t TO 's3://b/x' CONNECTION (secret_access_key = 'hush",
    "COPY t TO 's3://b/x' CONNECTION (secret_access_key = \"hush",
    "CREATE EXTERNAL TABLE e WITH (location='s3://', secret_access_key = 'a' hush)",
    "SELECT 1 'hush' -- password",
  ]) {
    let message = "";
    try {
      parseSql(text);
    } catch (thrown) {
      if (thrown instanceof DbError) message = thrown.message;
    }
    expect(message).toContain("hush");
    expect(masked(message, text)).not.toContain("hush");
    expect(masked(message, text)).toContain("at Line: 1");
  }
  expect(masked("found 'x', expected ')' at Line: 1, Column: 2", "SELECT (x")).toContain("'x'");
  expect(masked("found 'x'", `${"x".repeat(128 * 1024 - 5)}password`)).toBe("found '***'");
  expect(masked("found 'x'", "x".repeat(300_000))).toBe("found 'x'");
});
