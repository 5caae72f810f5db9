import { expect, test } from "bun:test";
import { totalmem } from "node:os";
import { machineMemoryBytes } from "./machine-memory.ts";

const V2 = "/sys/fs/cgroup/memory.max";
const V1 = "/sys/fs/cgroup/memory/memory.limit_in_bytes";

function check(files: Readonly<Record<string, string>>, want: number): void {
  const read = (path: string): string => {
    const text = files[path];
    if (text === undefined) throw new Error(`ENOENT: ${path}`);
    return text;
  };
  expect(machineMemoryBytes(read)).toBe(want);
}

test("a container's limit counts where it is below the machine's memory", () => {
  check({}, totalmem());
  check({ [V2]: "536870912\n" }, 536_870_912);
  check({ [V1]: "268435456\n" }, 268_435_456);
  check({ [V2]: "max\n" }, totalmem());
  check({ [V2]: "max\n", [V1]: "9223372036854771712\n" }, totalmem());
  check({ [V2]: "\n" }, totalmem());
  check({ [V2]: "0\n" }, totalmem());
});
