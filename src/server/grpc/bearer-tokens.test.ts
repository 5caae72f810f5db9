import { expect, test } from "bun:test";
import { BearerTokens } from "./bearer-tokens.ts";

const LOGIN = { name: "bób", password: "a:b c\u0000d" };

test("a token gives the login back, and a number of its own", () => {
  const tokens = new BearerTokens(() => 0, 1000);
  const [one, two] = [tokens.issue(LOGIN), tokens.issue(LOGIN)];
  expect(tokens.open(one)).toMatchObject(LOGIN);
  expect(one).not.toBe(two);
  expect(tokens.open(one)?.id).not.toEqual(tokens.open(two)?.id);
  expect(tokens.open(one)?.id).toEqual(tokens.open(one)?.id);
});

test("a token shows nothing of its login", () => {
  const token = new BearerTokens(() => 0, 1000).issue(LOGIN);
  expect(Buffer.from(token, "base64url").includes(LOGIN.password)).toBe(false);
  expect(Buffer.from(token, "base64url").includes("bób")).toBe(false);
});

test("a token ends with its time and with its process", () => {
  let now = 0;
  const tokens = new BearerTokens(() => now, 1000);
  const token = tokens.issue(LOGIN);
  now = 999;
  expect(tokens.open(token)).toMatchObject(LOGIN);
  now = 1000;
  expect(tokens.open(token)).toBeUndefined();
  expect(new BearerTokens(() => 0, 1000).open(token)).toBeUndefined();
});

test("a token that was changed or cut is none", () => {
  const tokens = new BearerTokens(() => 0, 1000);
  const bytes = Buffer.from(tokens.issue(LOGIN), "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(tokens.open(changed.toString("base64url"))).toBeUndefined();
    expect(tokens.open(bytes.toString("base64url", 0, at))).toBeUndefined();
  }
  expect(tokens.open("")).toBeUndefined();
  expect(tokens.open("A".repeat(1_000_000))).toBeUndefined();
});
