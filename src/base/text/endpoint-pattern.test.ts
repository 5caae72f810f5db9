import { expect, test } from "bun:test";
import { allowsAddress, type EndpointPattern, endpointPatternOf, parseEndpointPattern } from "./endpoint-pattern.ts";

function patternOf(text: string): EndpointPattern {
  const result = parseEndpointPattern(text);
  if (!result.ok) throw new Error(`${text}: ${result.reason}`);
  return result.value;
}

test.each([
  ["https://s3.example.com", "https://s3.example.com", true],
  ["s3.example.com", "https://S3.Example.com:443", true],
  ["s3.example.com", "http://s3.example.com", false],
  ["https://s3.example.com", "https://s3.example.com:9000", false],
  ["http://minio:9000", "http://minio:9000", true],
  ["http://minio:9000", "http://minio", false],
  ["https://*.example.com", "https://a.b.example.com", true],
  ["https://*.example.com", "https://example.com", false],
  ["https://*.example.com", "https://evilexample.com", false],
  ["http://127.0.0.1:9000", "http://0x7f.1:9000", true],
  ["http://[::1]:9000", "http://[0:0::1]:9000", true],
] as const)("%s and %s: %p", (pattern, url, isMatch) => {
  expect(endpointPatternOf(new URL(url), [patternOf(pattern)]) !== undefined).toBe(isMatch);
});

test.each([
  "",
  "*",
  "https://*",
  "https://a.*.com",
  "ftp://a",
  "https://a/b",
  "https://u:p@a",
  "https://a?b",
  "https://*.127.0.0.1",
  "a b",
])("%p is no entry", (text) => {
  expect(parseEndpointPattern(text).ok).toBe(false);
});

test.each([
  ["https://s3.example.com", "8.8.8.8", true],
  ["https://*.example.com", "8.8.8.8", true],
  ["https://s3.example.com", "10.0.0.1", true],
  ["https://*.example.com", "10.0.0.1", false],
  ["https://s3.example.com", "127.0.0.1", false],
  ["https://s3.example.com", "169.254.169.254", false],
  ["https://s3.example.com", "::ffff:169.254.169.254", false],
  ["http://169.254.169.254", "169.254.169.254", true],
  ["http://127.0.0.1:9000", "127.0.0.1", true],
  ["http://localhost:9000", "::1", true],
  ["http://localhost:9000", "169.254.169.254", false],
] as const)("%s at %s: %p", (pattern, address, isAllowed) => {
  expect(allowsAddress(patternOf(pattern), address)).toBe(isAllowed);
});
