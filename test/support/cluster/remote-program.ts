/** The server, whose statements read its tables as a frontend does: what `VARVE_REMOTE=3` starts in the place of `src/main.ts`. */
import { plugin } from "bun";

const HERE = import.meta.dir;
const WHERE = "new LocalDb(engine, scheduler, limits,";
const INSTEAD = "new LocalDb(remoteEngine(engine), scheduler, { ...limits, workers: remoteWorkers },";

plugin({
  name: "remote tables",
  setup(build) {
    build.onLoad({ filter: /\/src\/statements\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      if (!text.includes(WHERE)) throw new Error(`${path} makes its database in another way`);
      const imports = `import { remoteEngine, remoteWorkers } from ${JSON.stringify(`${HERE}/remote-server.ts`)};\n`;
      return { contents: imports + text.replace(WHERE, INSTEAD), loader: "ts" };
    });
  },
});

const { run } = await import("../../../src/program.ts");
await run();
