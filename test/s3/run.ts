/** Runs the tests of data files in S3 against versitygw: `bun run test:s3 [program]`. See `README.md`. */
import { join } from "node:path";
import { findGateway } from "../../bench/macro/s3-gateway.ts";
import { GATEWAY_VARIABLE } from "./store-process.ts";

const given = process.argv[2] ?? process.env[GATEWAY_VARIABLE];
const program = given ?? findGateway();
if (program === undefined) {
  process.stderr.write("cannot find versitygw: go install github.com/versity/versitygw/cmd/versitygw@latest, or name the program\n");
  process.exit(2);
}
const tests = Bun.spawn([process.execPath, "test", "test/s3"], {
  cwd: join(import.meta.dir, "../.."),
  env: { ...process.env, [GATEWAY_VARIABLE]: program },
  stdio: ["ignore", "inherit", "inherit"],
});
process.exit(await tests.exited);
