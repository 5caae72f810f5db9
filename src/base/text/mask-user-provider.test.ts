import { expect, test } from "bun:test";
import { maskUserProvider } from "./mask-user-provider.ts";

function check(spec: string, want: string): void {
  expect(maskUserProvider(spec)).toBe(want);
}

test("keeps names and modes and hides passwords", () => {
  check("static_user_provider:cmd:alice=secret", "static_user_provider:cmd:alice=***");
  check("static_user_provider:cmd:alice:ro=secret,bob=plain:x", "static_user_provider:cmd:alice:ro=***,bob=***");
  check("static_user_provider:cmd:alice=a=b", "static_user_provider:cmd:alice=***");
});

test("keeps paths", () => {
  check("static_user_provider:file:/etc/users=1.txt", "static_user_provider:file:/etc/users=1.txt");
  check("watch_file_user_provider:users.txt", "watch_file_user_provider:users.txt");
});

test("hides everything it does not understand", () => {
  check("static_user_provider:cmd:secret", "static_user_provider:cmd:***");
  check("static_user_provider:alice=secret", "static_user_provider:***");
  check("ldap:secret", "ldap:***");
  check("alice=secret", "***");
  check("secret", "***");
  check("", "***");
});
