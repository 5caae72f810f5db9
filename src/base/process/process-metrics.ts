/**
 * What the kernel says of this process and its container, besides what prom-client tells. Linux only; a family whose file is not there is
 * left out. Sources: proc(5), and the kernel's cgroup-v2.rst.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { MetricRegistry } from "../metrics.ts";

const THREADS = "/proc/self/task";
const GROUP_MEMORY = "/sys/fs/cgroup/memory.current";
const GROUP_PROCESSOR = "/sys/fs/cgroup/cpu.stat";

/** Registers `process_threads` and `greptime_cgroups_*` where the kernel tells them. Call once a registry. */
export function registerKernelMetrics(metrics: MetricRegistry): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    if (numberOf(read) === undefined) return;
    metrics.shownGauge(name, help, () => numberOf(read) ?? Number.NaN);
  };
  gauge("process_threads", "threads of the process, the runtime's own among them", () => readdirSync(THREADS).length);
  gauge("greptime_cgroups_memory_usage_bytes", "memory of the container, cached files among it", () =>
    Number(readFileSync(GROUP_MEMORY, "utf8")),
  );
  gauge("greptime_cgroups_cpu_usage_microseconds", "processor time of the container", () =>
    Number(/^usage_usec (\d+)$/m.exec(readFileSync(GROUP_PROCESSOR, "utf8"))?.[1]),
  );
}

/** Undefined where there is no such file, or no number in it. */
function numberOf(read: () => number): number | undefined {
  try {
    const value = read();
    return Number.isNaN(value) ? undefined : value;
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined; // The system's: no such file here, or not for us.
    throw error;
  }
}
