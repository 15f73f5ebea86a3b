# The App in one image: `docker run ... assay serve`, or `assay worker` beside it. Settings come from the environment.
FROM python:3.12-slim-trixie AS build
WORKDIR /src
COPY requirements.lock pyproject.toml README.md LICENSE THIRD_PARTY_NOTICES.md app.yml ./
RUN python -m venv /app \
 && /app/bin/pip install --no-cache-dir --no-compile --only-binary :all: --require-hashes -r requirements.lock
COPY bot bot
COPY scoring scoring
COPY goldens goldens
COPY manifests manifests
RUN /app/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.12-slim-trixie
RUN apt-get update \
 && apt-get install --yes --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --home-dir /data --create-home assay
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH PYTHONUNBUFFERED=1 ASSAY_DATA_DIR=/data ASSAY_BIND=0.0.0.0:8000 ASSAY_LOG=json
USER assay
WORKDIR /data
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK CMD python -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=5)"
ENTRYPOINT ["assay"]
CMD ["serve"]
