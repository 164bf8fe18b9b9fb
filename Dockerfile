# Mayfly as a container: docs/install.md says how to run it.

FROM node:20-bookworm-slim AS build
WORKDIR /mayfly
COPY package.json package-lock.json .npmrc ./
COPY scripts ./scripts
RUN node scripts/install.mjs
COPY tsconfig.json bunfig.toml LICENSE CHANGELOG.md ./
COPY sdk ./sdk
COPY docs/api.md docs/ci.md docs/codes.md docs/command.md docs/end-to-end.md docs/mcp.md docs/requests.md ./docs/
COPY src ./src
RUN npm run build

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="Mayfly"
LABEL org.opencontainers.image.description="A one-time secret service: share once, read once."
LABEL org.opencontainers.image.licenses="MIT"
RUN useradd --system --user-group --uid 10001 --home-dir /var/lib/mayfly --shell /usr/sbin/nologin mayfly
RUN install -d -m 700 -o mayfly -g mayfly /var/lib/mayfly
COPY --from=build /mayfly/dist/mayfly /usr/local/bin/mayfly
ENV HOST=0.0.0.0
ENV MAYFLY_DATA_DIR=/var/lib/mayfly
# As on a machine with 256 MiB the runtime collects garbage earlier: less memory at equal CPU.
ENV BUN_JSC_forceRAMSize=268435456
# Without the compiler's last tier (docs/decisions/069-no-last-tier.md).
ENV BUN_JSC_useFTLJIT=0
# By number, so that an orchestrator sees that it is not root.
USER 10001:10001
WORKDIR /var/lib/mayfly
VOLUME /var/lib/mayfly
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 CMD ["mayfly", "health"]
ENTRYPOINT ["mayfly"]
CMD ["serve"]
