import { expect, test } from "bun:test";
import { Access, type AccessRules, type Refusal } from "./access.ts";

const NEITHER: AccessRules = { asksCertificate: false };
const SECRET: AccessRules = { secret: "s3cret", asksCertificate: false };
const CERTIFICATE: AccessRules = { asksCertificate: true };
const BOTH: AccessRules = { secret: "s3cret", asksCertificate: true };

test.each<[string, AccessRules, string | null, string | undefined, Refusal | undefined]>([
  ["this machine", NEITHER, null, "127.0.0.1", undefined],
  ["this machine by its other name", NEITHER, null, "::1", undefined],
  ["this machine as IPv6 has it", NEITHER, null, "::ffff:127.0.0.1", undefined],
  ["another machine", NEITHER, null, "10.0.0.7", "not this machine"],
  ["another machine with whatever secret", NEITHER, "Bearer s3cret", "10.0.0.7", "not this machine"],
  ["nobody any more", NEITHER, null, undefined, "not this machine"],
  ["the secret", SECRET, "Bearer s3cret", "10.0.0.7", undefined],
  ["the secret, in other letters", SECRET, "bearer  s3cret", "10.0.0.7", undefined],
  ["no secret", SECRET, null, "10.0.0.7", "no secret"],
  ["no secret on this machine", SECRET, null, "127.0.0.1", "no secret"],
  ["an empty secret", SECRET, "Bearer ", "10.0.0.7", "no secret"],
  ["another scheme", SECRET, "Basic s3cret", "10.0.0.7", "no secret"],
  ["another secret", SECRET, "Bearer s3creT", "10.0.0.7", "wrong secret"],
  ["a part of the secret", SECRET, "Bearer s3cre", "10.0.0.7", "wrong secret"],
  ["more than the secret", SECRET, "Bearer s3cret ", "10.0.0.7", "wrong secret"],
  ["a certificate, which the handshake saw", CERTIFICATE, null, "10.0.0.7", undefined],
  ["a certificate without the secret", BOTH, null, "10.0.0.7", "no secret"],
  ["both", BOTH, "Bearer s3cret", "10.0.0.7", undefined],
])("%s", (_, rules, authorization, address, want) => {
  expect(new Access(rules).refusal(authorization, address)).toBe(want);
});
