/** The message definitions in `proto/`: buf reads and lints them, and known bytes fit them. */
import { describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./tidy/source-tree.ts";

const FOLDER = join(ROOT, "proto");
const BUF = join(ROOT, "node_modules/.bin/buf");

/** What a run of buf wrote and how it ended. */
interface BufRun {
  readonly status: number;
  readonly out: Uint8Array;
  readonly err: string;
}

function buf(args: readonly string[], stdin: Uint8Array | "ignore" = "ignore"): BufRun {
  const run = Bun.spawnSync([BUF, ...args], { cwd: FOLDER, stdin, stdout: "pipe", stderr: "pipe" });
  return { status: run.exitCode, out: run.stdout, err: run.stderr.toString() };
}

/** Why buf cannot run on this machine, or undefined when it can. */
function bufMissing(): string | undefined {
  try {
    const run = buf(["--version"]);
    return run.status === 0 ? undefined : run.err;
  } catch (error) {
    return String(error);
  }
}

const missing = bufMissing();
if (missing !== undefined) process.stderr.write(`proto.test.ts is skipped: buf cannot run here: ${missing}\n`);

describe.skipIf(missing !== undefined)("proto/", () => {
  test("builds", () => {
    expect(buf(["build", "-o", "/dev/null"])).toMatchObject({ status: 0, err: "" });
  });

  test("passes the lint but for the named exceptions", () => {
    expect(new TextDecoder().decode(buf(["lint"]).out)).toBe("");
  });

  test("is formatted", () => {
    expect(new TextDecoder().decode(buf(["format", "-d"]).out)).toBe("");
  });

  /** Bytes written by hand from the public definitions, and their JSON. */
  const messages: readonly (readonly [type: string, bytes: readonly number[], json: unknown])[] = [
    [
      "prometheus.WriteRequest", // one series {a="b"} with 1.5 at 2 ms
      [0x0a, 0x15, 0x0a, 0x06, 0x0a, 0x01, 0x61, 0x12, 0x01, 0x62, 0x12, 0x0b, 0x09, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0x10, 0x02],
      { timeseries: [{ labels: [{ name: "a", value: "b" }], samples: [{ value: 1.5, timestamp: "2" }] }] },
    ],
    [
      "io.prometheus.write.v2.Request", // symbols at 4, packed label references
      [0x22, 0x00, 0x22, 0x01, 0x61, 0x2a, 0x04, 0x0a, 0x02, 0x01, 0x01],
      { symbols: ["", "a"], timeseries: [{ labelsRefs: [1, 1] }] },
    ],
    [
      "logproto.PushRequest", // one stream {} with one line at 3 s
      [0x0a, 0x0d, 0x0a, 0x02, 0x7b, 0x7d, 0x12, 0x07, 0x0a, 0x02, 0x08, 0x03, 0x12, 0x01, 0x78],
      { streams: [{ labels: "{}", entries: [{ timestamp: "1970-01-01T00:00:03Z", line: "x" }] }] },
    ],
    [
      "opentelemetry.proto.metrics.v1.NumberDataPoint", // as_int is sfixed64 at 6
      [0x19, 1, 0, 0, 0, 0, 0, 0, 0, 0x31, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
      { timeUnixNano: "1", asInt: "-1" },
    ],
    [
      "greptime.v1.RequestHeader", // authorization.basic at 3.1
      [0x1a, 0x08, 0x0a, 0x06, 0x0a, 0x01, 0x75, 0x12, 0x01, 0x70, 0x22, 0x01, 0x64],
      { authorization: { basic: { username: "u", password: "p" } }, dbname: "d" },
    ],
  ];
  test.each(messages)("reads %s from its bytes", (type, bytes, json) => {
    const run = buf(["convert", "--type", type, "--from", "-#format=binpb", "--to", "-#format=json"], new Uint8Array(bytes));
    expect(run.err).toBe("");
    expect(JSON.parse(new TextDecoder().decode(run.out))).toEqual(json);
  });

  test("refuses planted names that no public definition has", async () => {
    const folder = await mkdtemp(join(tmpdir(), "varve-proto-"));
    try {
      await Bun.write(join(folder, "buf.yaml"), Bun.file(join(FOLDER, "buf.yaml")));
      const planted = 'syntax = "proto3";\npackage greptime.v1;\nmessage lower_case {\n  string badName = 1;\n}\n';
      await Bun.write(join(folder, "greptime/v1/planted.proto"), planted);
      for (const path of ["opentelemetry", "prometheus", "io/prometheus", "logproto"]) await mkdir(join(folder, path), { recursive: true });
      const findings = new TextDecoder().decode(buf(["lint", folder]).out);
      expect(findings).toContain('"lower_case" should be PascalCase');
      expect(findings).toContain('"badName" should be lower_snake_case');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
