/**
 * A small file system of its own for a server: a tmpfs in a mount namespace that a process holds open. Nothing is mounted where others see
 * it, and all is gone when the holder ends. Needs root and util-linux.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MIB = 1024 * 1024;

/** A disk of a few megabytes. */
export interface SmallDisk {
  /** Command that starts the command that follows it where the disk is mounted. */
  readonly wrapper: readonly string[];
  /** Takes `mebibytes` of the disk away, or as many as there are. */
  fill(mebibytes: number): void;
  /** Gives back what `fill` took. */
  empty(): void;
  end(): Promise<void>;
}

/** Whether this machine lets a test have such a disk. */
export function canMountSmallDisks(): boolean {
  const { exitCode } = Bun.spawnSync(["unshare", "-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt && nsenter --version"], {
    stdout: "ignore",
    stderr: "ignore",
  });
  return exitCode === 0;
}

/** Mounts a disk of `mebibytes` on `path`, which is made. */
export async function mountSmallDisk(path: string, mebibytes: number): Promise<SmallDisk> {
  mkdirSync(path, { recursive: true });
  const script = `mount -t tmpfs -o size=${mebibytes}m tmpfs "${path}" && echo mounted && read _`;
  const holder = Bun.spawn(["unshare", "-m", "sh", "-c", script], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const { value } = await holder.stdout.getReader().read();
  if (value === undefined) throw new Error(`cannot mount a disk on ${path}`);
  const filler = join(`/proc/${holder.pid}/root`, path, "filler");
  return {
    wrapper: ["nsenter", "-t", String(holder.pid), "-m", "--"],
    fill(count) {
      try {
        for (let i = 0; i < count; i++) writeFileSync(filler, new Uint8Array(MIB), { flag: "a" });
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
      }
    },
    empty: () => rmSync(filler, { force: true }),
    async end() {
      holder.kill("SIGKILL");
      await holder.exited;
    },
  };
}
