# Varve in a small image: Bun without its build tools, the runtime dependencies, the sources, and what `prepare` makes of them: protobuf
# messages, the dashboard, the program with its bytecode, which starts in half the time. Build: docker build -t varve .   Run: docker run -p 4000:4000 -v varve:/data varve

# Locked runtime dependencies alone: developers' tools stay out of the image.
FROM oven/bun:1.4.5-slim AS dependencies
WORKDIR /app
COPY package.json bun.lock ./
RUN bun install --frozen-lockfile --production --ignore-scripts

# What is made by developers' tools (`prepare`), in the folder of the last stage: a build is run where it was made.
FROM oven/bun:1.4.5-slim AS made
WORKDIR /app
COPY package.json bun.lock tsconfig.json ./
RUN bun install --frozen-lockfile --ignore-scripts
COPY proto ./proto
COPY bin ./bin
COPY src ./src
RUN bun run prepare

FROM oven/bun:1.4.5-slim
WORKDIR /app
ENV NODE_ENV=production
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json bun.lock LICENSE ./
COPY src ./src
COPY --from=made /app/proto/gen ./proto/gen
COPY --from=made /app/src/dashboard/gen ./src/dashboard/gen
COPY --from=made /app/gen ./gen
# The base image brings the user `bun` (1000). The data folder is theirs before it becomes a volume, so that a new volume is theirs too.
RUN mkdir /data && chown bun:bun /data
USER bun
VOLUME ["/data"]
EXPOSE 4000
# Defaults by environment, not by flags, so that arguments of `docker run` and a mounted configuration file win over them.
ENV VARVE__HTTP__ADDR=0.0.0.0:4000 VARVE__STORAGE__DATA_HOME=/data
# The image has no curl; Bun asks by itself. /health answers 503 when writes can no longer be made durable.
HEALTHCHECK --interval=15s --timeout=3s --start-period=30s --retries=3 \
  CMD ["bun", "-e", "const port = process.env.VARVE__HTTP__ADDR.split(':').pop(); process.exit((await fetch(`http://127.0.0.1:${port}/health`)).ok ? 0 : 1)"]
# Exec form: the server is process 1 and gets SIGTERM itself, so that `docker stop` ends with a clean close.
ENTRYPOINT ["bun", "run", "src/main.ts"]
