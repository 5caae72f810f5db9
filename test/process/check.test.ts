/** `varve check` as its users run it: refused beside a server, sound after it, and what it prints and returns for damage. */
import { afterEach, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { standalone } from "../support/cluster/standalone.ts";
import { runVarve, TestServer } from "../support/server-process.ts";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.end();
});

standalone("its folder is checked").test(
  "a directory is refused while a server uses it, sound afterwards, and damage is named with what to do",
  async () => {
    const server = await TestServer.start();
    servers.push(server);
    const write = await fetch(`${server.url}/v1/influxdb/write`, { method: "POST", body: "cpu,host=a v=1 1\ncpu,host=b v=2 2" });
    expect(write.status).toBe(204);
    const home = server.dataHome;
    const beside = await runVarve(["check", "--data-home", home]);
    expect([beside.status, beside.stderr]).toEqual([1, expect.stringContaining(`the server with pid ${server.running.pid} uses it`)]);
    await server.stop();
    const sound = await runVarve(["check", "--data-home", home]);
    expect([sound.status, sound.stderr]).toEqual([0, ""]); // No progress on a pipe.
    const tables = join(home, "data/tables");
    const files = readdirSync(tables, { recursive: true })
      .map(String)
      .filter((name) => name.endsWith(".parquet"));
    expect(files.length).toBe(readdirSync(tables).length); // One in each shard that has rows.
    expect(sound.stdout).toMatch(new RegExp(`^checking .*\\n(?:note .*\\n)*sound: ${files.length} data files, .*\\n$`));
    const [file] = files;
    const bytes = readFileSync(join(tables, file!));
    bytes[40]! ^= 4;
    writeFileSync(join(tables, file!), bytes);
    const damaged = await runVarve(["check", "--data-home", home]);
    expect(damaged.status).toBe(1);
    expect(damaged.stdout).toMatch(new RegExp(`damaged  data/tables/${file} at byte \\d+: .*\\n  means  .*\\n  do     .*backup`));
    const json = await runVarve(["check", "--data-home", home, "--json", "--unused"]);
    const lines = json.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly kind: string });
    expect(json.status).toBe(1);
    expect(lines.at(-1)).toMatchObject({ kind: "summary", findings: 1, dataFiles: files.length });
    expect(lines.find(({ kind }) => kind === "finding")).toMatchObject({ file: `data/tables/${file}`, offset: expect.any(Number) });
    expect(lines.some(({ kind }) => kind === "unused")).toBe(true);
  },
  60_000,
);

test("what is no data directory is refused", async () => {
  const server = await TestServer.start();
  servers.push(server);
  const refused = await runVarve(["check", "--data-home", join(server.folder, "nothing")]);
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("it has no meta.db")]);
  expect((await runVarve(["check", "--data-homes", "x"])).status).toBe(2);
}, 60_000);
