import { describe, expect, test } from "bun:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { ExportLogsServiceRequestSchema } from "../../../proto/gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import { ExportMetricsServiceRequestSchema } from "../../../proto/gen/opentelemetry/proto/collector/metrics/v1/metrics_service_pb.js";
import { seededRandom } from "../../../bench/macro/random.ts";
import { ProtoError } from "../../format/proto/reader.ts";
import { partsOf, type RecordForm } from "./parts.ts";

const SEED = 20_261_124;

function parts(request: Uint8Array, form: RecordForm, bytesMax: number): readonly Uint8Array[] {
  return [...partsOf(request, form, bytesMax)].filter((part) => part !== undefined);
}

/** Every record as it stands: its resource, its scope, itself. */
function recordsOf(bytes: Uint8Array): readonly string[] {
  const { resourceLogs } = fromBinary(ExportLogsServiceRequestSchema, bytes);
  return resourceLogs.flatMap(({ resource, schemaUrl, scopeLogs }) =>
    scopeLogs.flatMap(({ scope, schemaUrl: own, logRecords }) =>
      logRecords.map(({ severityText }) => [resource?.droppedAttributesCount, schemaUrl, scope?.name, own, severityText].join("/")),
    ),
  );
}

/** Every point with its metric. */
function pointsOf(bytes: Uint8Array): readonly string[] {
  const { resourceMetrics } = fromBinary(ExportMetricsServiceRequestSchema, bytes);
  return resourceMetrics.flatMap(({ schemaUrl, scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(({ name, unit, data }) => {
        const of = [schemaUrl, name, unit, data.case, data.case === "sum" ? data.value.isMonotonic : ""].join("/");
        return (data.value?.dataPoints ?? []).map(({ timeUnixNano }) => `${of}/${timeUnixNano}`);
      }),
    ),
  );
}

describe("a request in parts", () => {
  const random = seededRandom(SEED);
  const few = (most: number): readonly number[] => Array.from({ length: random.below(most + 1) }, (_, i) => i);
  let number = 0;
  const text = (): string => `${number++}`.padEnd(random.below(60), "x");

  test("has each record once, in its order, in what stands around it", () => {
    for (let run = 0; run < 200; run++) {
      const request = create(ExportLogsServiceRequestSchema, {
        resourceLogs: few(6).map(() => ({
          resource: { droppedAttributesCount: number++ },
          schemaUrl: text(),
          scopeLogs: few(6).map(() => ({
            scope: { name: text() },
            schemaUrl: text(),
            logRecords: few(40).map(() => ({ severityText: text() })),
          })),
        })),
      });
      const bytes = toBinary(ExportLogsServiceRequestSchema, request);
      for (const most of [1, 100, 1000, 10_000]) {
        const found = parts(bytes, "records", most);
        expect(found.flatMap((part) => [...recordsOf(part)])).toEqual([...recordsOf(bytes)]);
        const total = found.reduce((sum, part) => sum + part.length, 0);
        expect(total).toBeLessThanOrEqual(1.5 * bytes.length + 40 * found.length);
      }
    }
  });

  test("has each point once, with its metric", () => {
    for (let run = 0; run < 200; run++) {
      const points = (): { timeUnixNano: bigint }[] => few(50).map(() => ({ timeUnixNano: BigInt(number++) }));
      const request = create(ExportMetricsServiceRequestSchema, {
        resourceMetrics: few(3).map(() => ({
          schemaUrl: text(),
          scopeMetrics: few(3).map(() => ({
            metrics: few(5).map((i) => ({
              name: text(),
              unit: text(),
              data:
                i % 2 === 0
                  ? { case: "gauge" as const, value: { dataPoints: points() } }
                  : { case: "sum" as const, value: { dataPoints: points(), isMonotonic: random.below(2) === 1 } },
            })),
          })),
        })),
      });
      const bytes = toBinary(ExportMetricsServiceRequestSchema, request);
      for (const most of [1, 64, 512]) {
        expect(parts(bytes, "metrics", most).flatMap((part) => [...pointsOf(part)])).toEqual([...pointsOf(bytes)]);
      }
    }
  });

  test("is longer than the request by a bounded part, whatever stands around its records", () => {
    const around = "x".repeat(50_000);
    const logRecords = Array.from({ length: 5000 }, () => ({ severityText: "a" }));
    const resourceLogs = [{ schemaUrl: around, scopeLogs: [{ schemaUrl: around, logRecords }] }];
    const bytes = toBinary(ExportLogsServiceRequestSchema, create(ExportLogsServiceRequestSchema, { resourceLogs }));
    const found = parts(bytes, "records", 100);
    expect(found.length).toBe(1);
  });

  test("that is long in one list yields while it is walked", () => {
    const record = new BinaryWriter().tag(2, 2).bytes(new Uint8Array(0)).finish();
    const list = Buffer.concat(new Array<Uint8Array>(200_000).fill(record));
    const scopes = new BinaryWriter().tag(2, 2).bytes(list).finish();
    const bytes = new BinaryWriter().tag(1, 2).bytes(scopes).finish();
    const steps = [...partsOf(bytes, "records", 100_000)];
    expect(steps.filter((step) => step === undefined).length).toBeGreaterThan(4);
    expect(steps.filter((step) => step !== undefined).flatMap((part) => [...recordsOf(part as Uint8Array)]).length).toBe(200_000);
  });

  test("keeps what stands around nothing, and refuses lengths that lie", () => {
    const empty = new BinaryWriter().tag(1, 2).bytes(new BinaryWriter().tag(3, 2).string("a url").finish()).finish();
    expect(parts(empty, "records", 1)).toEqual([empty]);
    expect(parts(new Uint8Array(0), "records", 1)).toEqual([]);
    expect(() => parts(empty.subarray(0, -1), "records", 1)).toThrow(ProtoError);
    const lying = new BinaryWriter()
      .tag(1, 2)
      .bytes(Uint8Array.of(0x12, 5, 0))
      .finish();
    expect(() => parts(lying, "records", 1)).toThrow(ProtoError);
  });
});
