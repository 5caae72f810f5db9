import { expect, test } from "bun:test";
import { isLoopback, reachOf } from "./network-address.ts";

test.each([
  ["127.0.0.1", "local"],
  ["127.255.0.9", "local"],
  ["0.0.0.0", "local"],
  ["169.254.169.254", "local"],
  ["100.100.100.200", "local"],
  ["168.63.129.16", "local"],
  ["192.0.0.192", "local"],
  ["224.0.0.1", "local"],
  ["255.255.255.255", "local"],
  ["::", "local"],
  ["::1", "local"],
  ["fe80::1", "local"],
  ["fd00:ec2::254", "local"],
  ["ff02::1", "local"],
  ["::ffff:127.0.0.1", "local"],
  ["::ffff:7f00:1", "local"],
  ["::7f00:1", "local"],
  ["64:ff9b::a9fe:a9fe", "local"],
  ["2002:7f00:1::", "local"],
  ["10.1.2.3", "private"],
  ["172.31.255.255", "private"],
  ["192.168.0.1", "private"],
  ["100.64.0.1", "private"],
  ["fd12::1", "private"],
  ["::ffff:10.0.0.1", "private"],
  ["8.8.8.8", "public"],
  ["172.32.0.1", "public"],
  ["2a00:1450::1", "public"],
  ["64:ff9b::808:808", "public"],
] as const)("%s is %s", (address, reach) => {
  expect(reachOf(address)).toBe(reach);
});

test("loopback is told from what else is local", () => {
  const own = ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"].map(isLoopback);
  expect(own).toEqual([true, true, true, true]);
  expect(["0.0.0.0", "169.254.1.1", "10.0.0.1", "::", "localhost", ""].map(isLoopback)).toEqual(new Array(6).fill(false));
});
