/** The clients: what each needs, how it is built below the cache, and how it is run. */
import { join } from "node:path";

/** A command, where it runs, and what it finds in its environment. */
export interface Step {
  readonly command: readonly string[];
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** One program. */
export interface Client {
  readonly name: string;
  /** Programs without which it is skipped. */
  readonly needs: readonly string[];
  readonly prepare: readonly Step[];
  readonly run: Step;
}

const HERE = import.meta.dir;
/** Builds leave the machine to others. */
const NICE = ["nice", "-n", "10"] as const;
const GRPCURL_VERSION = "v1.9.4";

/** All of them, in the order in which they run. @param cache a folder that lasts, for packages and builds */
export function clientsOf(cache: string): readonly Client[] {
  return [
    ...pythonClients(cache),
    goClient(cache),
    javaClient(cache),
    rustClient(cache),
    javaGrpcClient(cache),
    ...grpcClients(cache),
    h2specClient(cache),
  ];
}

function pythonClients(cache: string): readonly Client[] {
  const folder = join(HERE, "python");
  const home = join(cache, "python");
  const python = join(home, "bin", "python");
  const prepare: readonly Step[] = [
    { command: ["python3", "-m", "venv", home], folder },
    { command: [...NICE, python, "-m", "pip", "install", "--quiet", "--requirement", "requirements.txt"], folder },
  ];
  const env = { PYTHONDONTWRITEBYTECODE: "1", PYTHONWARNINGS: "ignore" };
  return ["psycopg", "asyncpg", "pymysql", "sqlalchemy", "adbc", "pyarrow", "ingester"].map((name) => ({
    name: `python-${name}`,
    needs: ["python3"],
    prepare,
    run: { command: [python, `${name}_client.py`], folder, env },
  }));
}

function goFolders(cache: string): Readonly<Record<string, string>> {
  return { GOPATH: join(cache, "go", "path"), GOCACHE: join(cache, "go", "build"), GOFLAGS: "-modcacherw" };
}

function goClient(cache: string): Client {
  const folder = join(HERE, "go");
  const program = join(cache, "go", "clients");
  const env = { ...goFolders(cache), GOFLAGS: "-modcacherw -mod=readonly" };
  return {
    name: "go",
    needs: ["go"],
    prepare: [{ command: [...NICE, "go", "build", "-o", program, "."], folder, env }],
    run: { command: [program], folder },
  };
}

function javaClient(cache: string): Client {
  const folder = join(HERE, "java");
  const target = join(cache, "java", "target");
  const options = ["-q", "-B", `-Dmaven.repo.local=${join(cache, "java", "repository")}`, `-Dvarve.target=${target}`];
  return {
    name: "java",
    needs: ["java", "javac", "mvn"],
    prepare: [{ command: [...NICE, "mvn", ...options, "package"], folder }],
    run: { command: ["java", "-cp", `${join(target, "classes")}:${join(target, "lib")}/*`, "Clients"], folder },
  };
}

function javaGrpcClient(cache: string): Client {
  const folder = join(HERE, "java-grpc");
  const target = join(cache, "java-grpc", "target");
  const options = ["-q", "-B", `-Dmaven.repo.local=${join(cache, "java-grpc", "repository")}`, `-Dvarve.target=${target}`];
  // Arrow reaches into buffers of java.nio.
  const java = ["java", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", `${join(target, "classes")}:${join(target, "lib")}/*`];
  return {
    name: "java-grpc",
    needs: ["java", "javac", "mvn"],
    prepare: [{ command: [...NICE, "mvn", ...options, "package"], folder }],
    run: { command: [...java, "GrpcClients"], folder },
  };
}

function rustClient(cache: string): Client {
  const folder = join(HERE, "rust");
  const target = join(cache, "rust");
  return {
    name: "rust",
    needs: ["cargo"],
    prepare: [{ command: [...NICE, "cargo", "build", "--quiet", "--locked", "--target-dir", target], folder }],
    run: { command: [join(target, "debug", "clients")], folder },
  };
}

function grpcClients(cache: string): readonly Client[] {
  const folder = join(HERE, "rust-grpc");
  const target = join(cache, "rust-grpc");
  const ingester: Client = {
    name: "rust-grpc",
    needs: ["cargo"],
    prepare: [{ command: [...NICE, "cargo", "build", "--quiet", "--locked", "--target-dir", target], folder }],
    run: { command: [join(target, "debug", "grpc-clients")], folder },
  };
  const collector: Client = { name: "collector", needs: [], prepare: [], run: toolStep("collector") };
  return [ingester, grpcurlClient(cache), collector];
}

function toolStep(name: string): Step {
  return { command: [process.execPath, join(HERE, "tools", `${name}.ts`)], folder: HERE };
}

/** The machine's own grpcurl, or one that Go builds. */
function grpcurlClient(cache: string): Client {
  if (Bun.which("grpcurl") !== null) return { name: "grpcurl", needs: [], prepare: [], run: toolStep("grpcurl") };
  const bin = join(cache, "go", "bin");
  const env = { ...goFolders(cache), GOBIN: bin };
  const command = [...NICE, "go", "install", `github.com/fullstorydev/grpcurl/cmd/grpcurl@${GRPCURL_VERSION}`];
  const run = { ...toolStep("grpcurl"), env: { PATH: `${bin}:${process.env["PATH"] ?? ""}` } };
  return { name: "grpcurl", needs: ["go"], prepare: [{ command, folder: HERE, env }], run };
}

/** What tells whether a server speaks HTTP/2. */
function h2specClient(cache: string): Client {
  const bin = join(cache, "go", "bin");
  const env = { GOPATH: join(cache, "go", "path"), GOCACHE: join(cache, "go", "build"), GOFLAGS: "-modcacherw", GOBIN: bin };
  return {
    name: "h2spec",
    needs: ["go"],
    prepare: [{ command: [...NICE, "go", "install", "github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible"], folder: HERE, env }],
    run: { command: [process.execPath, join(HERE, "tools", "h2spec.ts"), join(bin, "h2spec")], folder: HERE },
  };
}
