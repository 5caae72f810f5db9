/** The gRPC port of a real process: its address, its encryption, what it counts. */
import { expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { createClient, ConnectError } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { HealthCheck } from "../../proto/gen/greptime/v1/health_pb.js";
import { certificate } from "../support/certificate.ts";
import { runVarve, TestServer, temporaryFolder } from "../support/server-process.ts";

/** What a call to the server's health ends with: "served" or the failure. */
async function health(baseUrl: string): Promise<string> {
  const nodeOptions = { rejectUnauthorized: false };
  const sessionManager = new Http2SessionManager(baseUrl, {}, nodeOptions);
  try {
    await createClient(HealthCheck, createGrpcTransport({ baseUrl, nodeOptions, sessionManager })).healthCheck({});
    return "served";
  } catch (thrown) {
    return `refused: ${ConnectError.from(thrown).message}`;
  } finally {
    sessionManager.abort();
  }
}

async function encrypted(mode: "prefer" | "require"): Promise<TestServer> {
  const { certPath, keyPath } = await certificate("grpc");
  const config = `[grpc.tls]\nmode = "${mode}"\ncert_path = "${certPath}"\nkey_path = "${keyPath}"\n`;
  return TestServer.start({ config });
}

test("a taken gRPC port ends the start, and the address is told", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  const folder = await temporaryFolder();
  try {
    const flags = ["--http-addr", "127.0.0.1:0", "--data-home", `${folder}/data`, "--grpc-bind-addr", `127.0.0.1:${port}`];
    const { status, stderr } = await runVarve(flags);
    expect(status).toBe(1);
    expect(stderr).toContain(`cannot listen on 127.0.0.1:${port} for gRPC (grpc.bind_addr)`);
  } finally {
    other.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test("TLS prefer serves both, and calls are counted in /metrics", async () => {
  await using server = await encrypted("prefer");
  expect(await health(`https://${server.grpcAddress}`)).toBe("served");
  expect(await health(`http://${server.grpcAddress}`)).toBe("served");
  const text = await (await fetch(`${server.url}/metrics`)).text();
  expect(text).toMatch(/^greptime_servers_grpc_requests_total\{path="\/greptime\.v1\.HealthCheck\/HealthCheck",code="0"\} 2$/m);
  expect(text).toMatch(/^varve_grpc_connections \d+$/m);
});

test("TLS require refuses what is not encrypted", async () => {
  await using server = await encrypted("require");
  expect(await health(`http://${server.grpcAddress}`)).toStartWith("refused: ");
  expect(await health(`https://${server.grpcAddress}`)).toBe("served");
});
