import { afterAll, beforeAll, expect, test } from "bun:test";
import { createFileRegistry, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { ServerReflection, type ServerReflectionRequestSchema } from "../../../../proto/gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../../../../proto/gen/grpc/reflection/v1alpha/reflection_pb.js";
import { type GrpcFixture, GrpcClient, startGrpc } from "../../../../test/support/grpc-fixture.ts";

type Asked = NonNullable<MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"]>;

let server: GrpcFixture;
let client: GrpcClient;
beforeAll(async () => {
  server = await startGrpc("static_user_provider:cmd:alice=secret");
  client = new GrpcClient(server.port);
});
afterAll(async () => {
  client[Symbol.dispose]();
  await server.stop();
});

async function* one(messageRequest: Asked): AsyncGenerator<MessageInitShape<typeof ServerReflectionRequestSchema>> {
  yield { host: "here", messageRequest };
}

/** The answer of both versions, which is the same. */
async function answerTo(asked: Asked) {
  const [v1] = await Array.fromAsync(createClient(ServerReflection, client.transport).serverReflectionInfo(one(asked)));
  const older = createClient(ServerReflectionAlpha as unknown as typeof ServerReflection, client.transport);
  const [alpha] = await Array.fromAsync(older.serverReflectionInfo(one(asked)));
  expect(alpha?.messageResponse.case).toBe(v1?.messageResponse.case);
  expect(v1?.originalRequest?.host).toBe("here");
  return v1?.messageResponse;
}

/** Everything that an answer defines, put together from nothing else. */
async function definedBy(asked: Asked) {
  const answer = await answerTo(asked);
  const bytes = answer?.case === "fileDescriptorResponse" ? answer.value.fileDescriptorProto : [];
  const rest = bytes.map((each) => fromBinary(FileDescriptorProtoSchema, each));
  const file: typeof rest = [];
  // Imports first; what imports something that did not come never gets there.
  for (let at = 0; at >= 0; ) {
    at = rest.findIndex(({ dependency }) => dependency.every((name) => file.some((known) => known.name === name)));
    if (at >= 0) file.push(...rest.splice(at, 1));
  }
  expect(rest).toEqual([]);
  return createFileRegistry(create(FileDescriptorSetSchema, { file }));
}

test("lists what is served, itself too, without credentials", async () => {
  const answer = await answerTo({ case: "listServices", value: "" });
  const names = answer?.case === "listServicesResponse" ? answer.value.service.map(({ name }) => name) : [];
  for (const name of ["greptime.v1.GreptimeDatabase", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"]) {
    expect(names).toContain(name);
  }
});

test("files of services, methods, messages and by name are whole with what they import", async () => {
  for (const value of ["greptime.v1.GreptimeDatabase", "greptime.v1.GreptimeDatabase.Handle", "greptime.v1.GreptimeRequest"]) {
    const registry = await definedBy({ case: "fileContainingSymbol", value });
    expect(registry.getService("greptime.v1.GreptimeDatabase")?.method["handle"]?.input.typeName).toBe("greptime.v1.GreptimeRequest");
    expect(registry.getMessage("greptime.v1.RowInsertRequests")).toBeDefined();
  }
  expect((await definedBy({ case: "fileByFilename", value: "greptime/v1/row.proto" })).getMessage("greptime.v1.Row")).toBeDefined();
});

test("what is not there is said so, and the stream goes on", async () => {
  const codeOf = async (asked: Asked): Promise<number | undefined> => {
    const answer = await answerTo(asked);
    return answer?.case === "errorResponse" ? answer.value.errorCode : undefined;
  };
  expect(await codeOf({ case: "fileContainingSymbol", value: "no.Such" })).toBe(5);
  expect(await codeOf({ case: "fileByFilename", value: "../../etc/passwd" })).toBe(5);
  expect(await codeOf({ case: "fileContainingExtension", value: { containingType: "greptime.v1.Row", extensionNumber: 1 } })).toBe(5);
  expect(await codeOf({ case: "allExtensionNumbersOfType", value: "no.Such" })).toBe(5);
});

test("names that are longer than any are refused", async () => {
  const failed = await answerTo({ case: "fileContainingSymbol", value: "x".repeat(5000) }).catch((thrown: unknown) =>
    ConnectError.from(thrown),
  );
  expect(failed).toMatchObject({ code: Code.InvalidArgument });
});
