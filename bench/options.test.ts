/** The command line says what it understood, or what is wrong with it. */
import { describe, expect, test } from "bun:test";
import { parseOptions, UsageError } from "./options.ts";

function refuses(args: readonly string[], want: RegExp): void {
  expect(() => parseOptions(args, {})).toThrow(UsageError);
  expect(() => parseOptions(args, {})).toThrow(want);
}

describe("accepts", () => {
  test("nothing: the full run", () => {
    const options = parseOptions([], { QUESTDB_JAR: "q.jar" });
    expect(options?.command).toBe("all");
    expect(options?.dataset.rows).toBe(8_640_000);
    expect(options?.peers).toHaveLength(4);
    expect(options?.questdbJar).toBe("q.jar");
    expect(options?.out).toBeUndefined();
  });

  test("a smoke run: small, without peers and without a file", () => {
    const options = parseOptions(["--smoke"], {});
    expect(options?.dataset.rows).toBe(20_000);
    expect(options?.peers).toEqual([]);
    expect(options?.out).toBe("none");
  });

  test("wires: a million rows, with the real servers or without", () => {
    const options = parseOptions(["wires"], {});
    expect(options).toMatchObject({ withWirePeers: true, clients: 16, dataset: { rows: 1_000_000 } });
    expect(parseOptions(["wires", "--peers", "none"], {})?.withWirePeers).toBe(false);
  });

  test("what of gRPC is measured, and how much", () => {
    expect(parseOptions(["grpc"], {})).toMatchObject({ dataset: { rows: 400_000, hosts: 4000 } });
    expect(parseOptions(["grpc", "--only", "doget,otlp"], {})?.grpcWorkloads).toEqual(["doget", "otlp"]);
  });

  test("what clients speak", () => {
    expect(parseOptions(["clients"], {})?.protocol).toBe("http");
    expect(parseOptions(["clients", "--protocol", "mysql"], {})?.protocol).toBe("mysql");
  });

  test("lists, numbers and settings", () => {
    const args = [
      "ingest",
      "--rows",
      "1_000",
      "--durability",
      "always,never",
      "--peers",
      "victoria",
      "--set",
      'storage.memtable_size="64MiB"',
    ];
    const options = parseOptions(args, {});
    expect(options?.command).toBe("ingest");
    expect(options?.dataset.rows).toBe(1000);
    expect(options?.durabilities).toEqual(["always", "never"]);
    expect(options?.peers).toEqual(["victoria"]);
    expect(options?.settings.get("storage.memtable_size")).toBe('"64MiB"');
  });

  test("the size of a benchmark of many series, tables or columns, full and small", () => {
    const sizeOf = (...args: readonly string[]): readonly number[] => {
      const { rows, hosts } = parseOptions(args, {})?.dataset ?? { rows: 0, hosts: 0 };
      return [rows, hosts];
    };
    expect(sizeOf("series")[1]).toBe(1_000_000);
    expect(sizeOf("tables")[1]).toBe(10_000);
    expect(sizeOf("columns")[1]).toBe(1000);
    expect(sizeOf("series", "--smoke")).toEqual([6000, 2000]);
    expect(sizeOf("series", "--smoke", "--rows", "100", "--hosts", "50")).toEqual([100, 50]);
  });

  test("the shape of remote write, which is another", () => {
    const options = parseOptions(["remote-write", "--minutes", "2", "--fast", "--version", "2"], {});
    expect([options?.rowsPerBatch, options?.connections, options?.version]).toEqual([2000, 8, 2]);
    expect([options?.isTimed, options?.isFast, options?.intervalSeconds]).toEqual([true, true, 15]);
    expect(parseOptions(["remote-write"], {})?.isTimed).toBe(false);
  });

  test("words after micro", () => {
    expect(parseOptions(["micro", "wal"], {})?.filters).toEqual(["wal"]);
  });

  test("a question", () => {
    expect(parseOptions(["-h"], {})).toBeUndefined();
  });
});

describe("refuses", () => {
  test("unknown commands, options and names", () => {
    refuses(["injest"], /unknown command injest/);
    refuses(["ingest", "now"], /unexpected argument now/);
    refuses(["--rwos", "5"], /--rwos/);
    refuses(["--peers", "oracle"], /--peers oracle: want some of influxdb/);
    refuses(["--durability", "sometimes"], /want some of always/);
  });

  test("numbers that are none, and settings without a key", () => {
    refuses(["--rows", "many"], /--rows many: want a whole number/);
    refuses(["--version", "3"], /want 1 or 2/);
    refuses(["clients", "--protocol", "smtp"], /--protocol smtp: want one of http, mysql, postgres/);
    refuses(["grpc", "--only", "rows,doputs"], /--only doputs: want some of transport, rows/);
    refuses(["wires", "--peers", "victoria"], /wires takes all or none/);
    refuses(["--rows", "0"], /at least 1/);
    refuses(["--set", "wal=1"], /want section.key=value/);
  });
});
