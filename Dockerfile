# The image holds the one binary and runs any of its parts against a ClickHouse, a
# Redis and an S3 store. The embedded engine is not in it: run that with `make up`.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# What the repository knows, which is not in the image: make image passes it on.
ARG VERSION=unknown
ARG COMMIT=
ARG COMMIT_TIME=
RUN scripts/build.sh /out/ledgerlake

# Not a static image: the binary can load the engine's library and is therefore linked
# to the C library, also without cgo.
FROM debian:bookworm-slim
RUN apt-get update \
	&& apt-get install -y --no-install-recommends ca-certificates curl \
	&& rm -rf /var/lib/apt/lists/* \
	&& useradd --uid 10001 --no-create-home --home-dir /var/lib/ledgerlake --shell /usr/sbin/nologin ledgerlake \
	&& install -d -o ledgerlake -g ledgerlake /var/lib/ledgerlake
COPY --from=build /out/ledgerlake /usr/local/bin/ledgerlake
COPY LICENSE /usr/share/doc/ledgerlake/LICENSE
USER 10001
WORKDIR /var/lib/ledgerlake
ENV LEDGERLAKE_DATA=/var/lib/ledgerlake LEDGERLAKE_LISTEN=0.0.0.0:8080
EXPOSE 8080
# For the default command; the other parts serve no HTTP.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["curl", "-fsS", "-o", "/dev/null", "http://127.0.0.1:8080/livez"]
ENTRYPOINT ["ledgerlake"]
CMD ["serve"]
