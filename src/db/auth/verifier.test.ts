import { describe, expect, test } from "bun:test";
import { hashPassword } from "./hash-password.ts";
import { matchesPassword, parseVerifier, printVerifier } from "./verifier.ts";

const SALT = "73616c74";
const PBKDF2 = `pbkdf2_sha256:4096:${SALT}:c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a`;
const STORED_KEY = "53706a13f10b3c031b4c355d75ebd6500d3478062ce7d262710c3e60de02b93f";
const SERVER_KEY = "a19ce79824bd7ad68d96b8c00b0f1cc776bd0feca54d663301bb9866a860545b";
const SCRAM = `pg_scram_sha256:4096:${SALT}:${STORED_KEY}:${SERVER_KEY}`;
const MYSQL = "mysql_native_password:6bb4837eb74329105ee4568dda7dc67ed2ca2ad9";
const SECRET = new Uint8Array(32);

/** Checks whether a password matches a stored form; "malformed" when that form cannot be read. */
async function check(stored: string, password: string, want: boolean | "malformed"): Promise<void> {
  const verifier = parseVerifier(stored);
  expect(verifier === undefined ? "malformed" : await matchesPassword(verifier, password, SECRET)).toBe(want);
}

describe("a stored password", () => {
  test("in plain text, with and without its prefix", async () => {
    await check("secret", "secret", true);
    await check("plain:secret", "secret", true);
    await check("plain:pbkdf2_sha256:1", "pbkdf2_sha256:1", true);
    await check("other:secret", "other:secret", true);
    await check("PLAIN:x", "PLAIN:x", true);
    await check("secret", "Secret", false);
    await check("secret", "secret ", false);
    await check("", "x", false);
  });

  test("derived by PBKDF2", async () => {
    await check(PBKDF2, "password", true);
    await check(PBKDF2.toUpperCase().replace("PBKDF2_SHA256", "pbkdf2_sha256"), "password", true);
    await check(PBKDF2, "passwort", false);
    await check(PBKDF2.replace("4096", "4095"), "password", false);
  });

  test("derived by SCRAM, where both keys must agree", async () => {
    await check(SCRAM, "greptime_pwd", true);
    await check(SCRAM, "password", false);
    await check(SCRAM.replace(SERVER_KEY, "00".repeat(32)), "greptime_pwd", false);
    await check(SCRAM.replace(STORED_KEY, "00".repeat(32)), "greptime_pwd", false);
  });

  test("of the native MySQL handshake never matches a password in clear", async () => {
    await check(MYSQL, "123456", false);
    await check(MYSQL, MYSQL, false);
  });

  test("with a known prefix and a bad payload is malformed", async () => {
    const hash = "00".repeat(32);
    for (const stored of [
      "pbkdf2_sha256:",
      `pbkdf2_sha256:0:${SALT}:${hash}`,
      `pbkdf2_sha256:1000001:${SALT}:${hash}`,
      `pbkdf2_sha256:+1:${SALT}:${hash}`,
      `pbkdf2_sha256:1e3:${SALT}:${hash}`,
      `pbkdf2_sha256:1::${hash}`,
      `pbkdf2_sha256:1:${"00".repeat(1025)}:${hash}`,
      `pbkdf2_sha256:1:abc:${hash}`,
      `pbkdf2_sha256:1:${SALT}:${hash}00`,
      `pbkdf2_sha256:1:${SALT}:${hash}:`,
      `pbkdf2_sha256:1:${SALT}`,
      `pg_scram_sha256:4096:${SALT}:${STORED_KEY}`,
      `pg_scram_sha256:4096:${SALT}:${STORED_KEY}:zz`,
      "mysql_native_password:",
      "mysql_native_password:6bb4",
      `${MYSQL}:x`,
    ]) {
      await check(stored, "x", "malformed");
    }
  });

  test("prints as it is read", () => {
    for (const stored of [PBKDF2, SCRAM, MYSQL, "plain:a:b"]) {
      const verifier = parseVerifier(stored);
      expect(verifier === undefined ? undefined : printVerifier(verifier)).toBe(stored);
    }
  });
});

describe("hashing a password", () => {
  test("gives the published vectors", async () => {
    const options = { iterations: 4096, salt: { hex: SALT } };
    expect(await hashPassword("password", { ...options, format: "pbkdf2_sha256" })).toBe(PBKDF2);
    expect(await hashPassword("greptime_pwd", { ...options, format: "pg_scram_sha256" })).toBe(SCRAM);
    // The same by Python's hashlib for another password.
    const other = await hashPassword("password", { ...options, format: "pg_scram_sha256" });
    const storedKey = "945e1c466fc9932efadc23781edc5d1e78d5e10f005933652af1a6105154f084";
    const serverKey = "b9bf0e811b1fb6793671c0cc3adedf7c75cd72291191092ad65878c5a02aad2c";
    expect(other).toBe(`pg_scram_sha256:4096:${SALT}:${storedKey}:${serverKey}`);
    expect(await hashPassword("123456", { ...options, format: "mysql_native_password" })).toBe(MYSQL);
  });

  test("makes a salt of the wanted length, another each time", async () => {
    const options = { format: "pbkdf2_sha256", iterations: 1, salt: { byteLength: 24 } } as const;
    const [first, second] = await Promise.all([hashPassword("x", options), hashPassword("x", options)]);
    expect(first.split(":")[2]).toHaveLength(48);
    expect(first).not.toBe(second);
    await check(first, "x", true);
  });

  test("refuses an empty password and options out of range", async () => {
    const options = { format: "pbkdf2_sha256", iterations: 4096, salt: { byteLength: 16 } } as const;
    expect(hashPassword("", options)).rejects.toThrow("password must not be empty");
    expect(hashPassword("x", { ...options, salt: { hex: "" } })).rejects.toThrow("out of range");
  });
});
