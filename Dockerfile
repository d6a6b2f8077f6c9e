# An image for CI: tfgitops with its bundled plugins, Python for plugins of your own, and Git for reviews.
FROM python:3.12-slim AS build
WORKDIR /source
COPY . .
RUN pip install --no-cache-dir --require-hashes --requirement requirements/build.txt \
    && pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels . \
    && cp requirements/package.txt /wheels

FROM python:3.12-slim
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --require-hashes --requirement /wheels/package.txt \
    && pip install --no-cache-dir --no-deps /wheels/*.whl && rm -r /wheels
# CI mounts a clone that belongs to another user.
RUN git config --system --add safe.directory '*'
CMD ["tfgitops", "--help"]
