# The function as an image: one static binary, and the passwd that `--user nobody` is looked up in.
#
#   docker buildx build --platform linux/amd64,linux/arm64 --tag IMAGE .
#
# That needs BuildKit, which engines before 23 have to be asked for: `DOCKER_BUILDKIT=1 docker build --tag IMAGE .`
#
# Where the builder image cannot be pulled, the binary is built on this machine, and only the last stage is made:
#
#   image/build && docker build --target local --tag IMAGE .
ARG BUILDER=docker.io/library/rust:1.89-slim-bookworm

FROM scratch AS image
LABEL org.opencontainers.image.title="krm-merge" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.description="A KRM function that merges Kubernetes resources, and leaves every byte that the merge does not change" \
      org.opencontainers.image.source="https://github.com/krm-merge/krm-merge" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY image/passwd /etc/passwd
# nobody, by number, so that `runAsNonRoot` can be checked.
USER 65534:65534
ENTRYPOINT ["/krm-merge"]

FROM image AS local
COPY dist/krm-merge /krm-merge

FROM --platform=$BUILDPLATFORM ${BUILDER} AS build
ARG BUILDARCH
ARG TARGETARCH
RUN case "$BUILDARCH-$TARGETARCH" in \
        amd64-arm64) cross="gcc-aarch64-linux-gnu libc6-dev-arm64-cross" ;; \
        arm64-amd64) cross="gcc-x86-64-linux-gnu libc6-dev-amd64-cross" ;; \
        *) exit 0 ;; \
    esac && apt-get update && apt-get install --yes --no-install-recommends $cross
WORKDIR /krm-merge
COPY . .
RUN image/build "$TARGETARCH" /out/krm-merge

FROM image
COPY --from=build /out/krm-merge /krm-merge
